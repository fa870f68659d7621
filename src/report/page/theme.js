// theme.js: light, dark, or as the system says; the choice is remembered where the browser allows.
// Print is always light.
import { byId } from './dom.js';

const KEY = 'qkscope-theme';
const ORDER = ['auto', 'light', 'dark'];
const NAMES = { auto: 'Theme: auto', light: 'Theme: light', dark: 'Theme: dark' };
const system = matchMedia('(prefers-color-scheme: dark)');
let chosen = 'auto';
let printing = false;

function remembered() {
    try {
        return localStorage.getItem(KEY);
    } catch {
        return null; // a file that may not store
    }
}

function remember(choice) {
    try {
        localStorage.setItem(KEY, choice);
    } catch {
        // then it lasts as long as the page
    }
}

export const isDark = () => document.documentElement.dataset.theme === 'dark';

// The value of a colour in style.css, such as colour('--text').
export const colour = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function startTheme(changed) {
    const button = byId('theme');
    const apply = () => {
        const dark = !printing && (chosen === 'dark' || (chosen === 'auto' && system.matches));
        const before = document.documentElement.dataset.theme;
        document.documentElement.dataset.theme = dark ? 'dark' : 'light';
        button.textContent = NAMES[chosen];
        if (before !== document.documentElement.dataset.theme) changed();
    };
    chosen = ORDER.includes(remembered()) ? remembered() : 'auto';
    button.addEventListener('click', () => {
        chosen = ORDER[(ORDER.indexOf(chosen) + 1) % ORDER.length];
        remember(chosen);
        apply();
    });
    system.addEventListener('change', apply);
    addEventListener('beforeprint', () => {
        printing = true;
        apply();
    });
    addEventListener('afterprint', () => {
        printing = false;
        apply();
    });
    apply();
}
