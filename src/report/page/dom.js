// dom.js: making elements and writing numbers. Text goes in as text, never as markup.

export const byId = (id) => document.getElementById(id);

// el('p', { class: 'hint', onclick: f }, 'text', child, ...): null and undefined are left out.
export function el(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (name === 'style') Object.assign(element.style, value);
        else element.setAttribute(name, value === true ? '' : value);
    }
    put(element, ...children);
    return element;
}

// Replaces what is in the element.
export function put(element, ...children) {
    element.replaceChildren(...children.flat().filter((c) => c !== null && c !== undefined));
    return element;
}

export const tableHead = (...cells) => el('thead', null, el('tr', null, ...cells));

// r with its index q or k, as the papers print it.
export const r = (side) => [el('i', null, 'r'), el('sub', null, side)];

// A true minus sign, and none before a zero.
const minus = (text) => (Number(text) === 0 ? text.replace('-', '') : text.replaceAll('-', '−'));

export function fixed(value, decimals = 2) {
    return Number.isFinite(value) ? minus(value.toFixed(decimals)) : '–';
}

export function signed(value, decimals = 2) {
    return value > 0 ? `+${fixed(value, decimals)}` : fixed(value, decimals);
}

// Four digits, whatever the size.
export function short(value) {
    if (!Number.isFinite(value)) return '–';
    if (value === 0) return '0';
    const size = Math.abs(value);
    return minus(
        size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(4))) : value.toExponential(2),
    );
}

export function whole(value) {
    return Number.isFinite(value) ? value.toLocaleString('en-US') : '–';
}

// 62,914,560 as 62.9 M
export function large(value) {
    if (!Number.isFinite(value)) return '–';
    for (const [size, name] of [
        [1e9, ' B'],
        [1e6, ' M'],
    ])
        if (value >= size) return Number((value / size).toPrecision(3)) + name;
    return whole(value);
}

// "0.81 ± 0.01" with as many decimals as the error deserves.
export function withError(value, se, write = fixed) {
    if (!Number.isFinite(se)) return write(value, 2);
    if (se < 0.00005) return `${write(value, 2)} ± 0`;
    const decimals = se >= 0.0095 ? 2 : se >= 0.00095 ? 3 : 4;
    return `${write(value, decimals)} ± ${fixed(se, decimals)}`;
}

export function ellipsis(text, length) {
    const line = String(text).replace(/\s+/g, ' ');
    return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

export function save(name, blob) {
    const address = URL.createObjectURL(blob);
    el('a', { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}
