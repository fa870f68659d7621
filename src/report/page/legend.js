// legend.js: the colours' meaning; pressing a category hides or shows its heads.
import { viridis } from './colours.js';
import { byId, el, ellipsis, fixed, put } from './dom.js';

const MOST = 40; // categories with a button

export function makeLegend(data, state) {
    const element = byId('legend');

    function gradient({ low, high }) {
        const stops = Array.from({ length: 11 }, (_, i) => viridis(i / 10)).join(', ');
        return [
            el('span', null, fixed(low, 2)),
            el('span', {
                class: 'gradient',
                style: { background: `linear-gradient(to right, ${stops})` },
            }),
            el('span', null, fixed(high, 2)),
        ];
    }

    function category(entry, i) {
        const shown = !state.hidden.has(i);
        const toggle = () => {
            const hidden = new Set(state.hidden);
            if (!hidden.delete(i)) hidden.add(i);
            state.set({ hidden });
        };
        return el(
            'button',
            { type: 'button', 'aria-pressed': shown, title: entry.name, onclick: toggle },
            el('span', { class: 'swatch', style: { background: entry.colour } }),
            ellipsis(entry.name, 24),
        );
    }

    return {
        redraw() {
            const focused = [...element.children].indexOf(document.activeElement);
            const { scheme } = state;
            const rope =
                data.heads.rope && Array.from(data.heads.rope).some((v) => v === 0)
                    ? [
                          el(
                              'span',
                              { class: 'note' },
                              el('span', { class: 'swatch hollow' }),
                              'hollow: no RoPE',
                          ),
                      ]
                    : [];
            put(
                element,
                scheme.scale
                    ? gradient(scheme.scale)
                    : scheme.categories.slice(0, MOST).map(category),
                rope,
            );
            if (focused >= 0) element.children[focused]?.focus();
        },
    };
}
