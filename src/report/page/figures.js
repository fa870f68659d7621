// figures.js: the run's figures with their explanations. A figure is an image whose address holds
// the SVG: whatever an SVG says, as an image it can neither run nor load anything.
import { byId, el, put } from './dom.js';
import { readMarkdown } from './markdown.js';

const SHOWN = 4; // lines of a takeaway; the rest on request

const plainName = (name) => name.replace(/^\d+-/, '').replaceAll(/[_-]/g, ' ');

// Splits a long list: [what is shown, the rest or null].
function cut(element) {
    if (element.tagName !== 'UL' || element.children.length <= SHOWN + 1) return [element, null];
    return [element, el('ul', null, [...element.children].slice(SHOWN))];
}

function enlarge(image) {
    const dialog = byId('zoom');
    const close = el(
        'button',
        { type: 'button', class: 'close', 'aria-label': 'Close', onclick: () => dialog.close() },
        '×',
    );
    put(dialog, close, el('img', { src: image.src, alt: image.alt }));
    dialog.showModal();
}

function figure({ name, readme, svg }) {
    const { title, sections } = readMarkdown(readme);
    const image = el('img', {
        src: `data:image/svg+xml;base64,${svg}`,
        alt: title || plainName(name),
        loading: 'lazy',
    });
    // The takeaway first, in sight; how it was made on request.
    const key = sections.findIndex((s) => /takeaway/i.test(s.title));
    const first = key >= 0 ? sections[key] : sections[0];
    const [shown, more] = first?.body.length ? cut(first.body[0]) : [null, null];
    const others = sections
        .filter((s) => s !== first)
        .flatMap((s) => [s.title ? el('h4', null, s.title) : null, ...s.body]);
    const rest = [more, ...(first?.body.slice(1) ?? []), ...others].filter(Boolean);
    return el(
        'figure',
        { id: `figure-${name}` },
        el(
            'button',
            {
                type: 'button',
                class: 'paper',
                'aria-label': `Enlarge: ${image.alt}`,
                onclick: () => enlarge(image),
            },
            image,
        ),
        el(
            'figcaption',
            null,
            el('h3', null, (title || plainName(name)).replaceAll('_', ' ')),
            shown,
            rest.length
                ? el(
                      'details',
                      null,
                      el(
                          'summary',
                          null,
                          more ? 'More, and how it was made' : 'What it shows and how it was made',
                      ),
                      rest,
                  )
                : null,
        ),
    );
}

export function drawFigures(data) {
    const none = data.figures.length === 0;
    byId('figures').hidden = none;
    byId('nav-figures').hidden = none;
    put(byId('figure-list'), data.figures.map(figure));
    const dialog = byId('zoom');
    dialog.addEventListener('click', (event) => {
        if (event.target === dialog) dialog.close();
    });
}
