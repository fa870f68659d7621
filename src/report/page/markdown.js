// markdown.js: the little Markdown that figures' explanations use, as elements: headings,
// paragraphs, lists, tables, code, bold. Anything else is text; nothing becomes markup or a link.
import { el, tableHead } from './dom.js';

// **bold**, *italics*, `code`, \\* for a mark that is only a character
const MARKS = /(\\[!-/:-@[-`{-~]|`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/;

function inline(text) {
    return text
        .split(MARKS)
        .filter(Boolean)
        .map((part) => {
            if (!MARKS.test(part)) return part;
            if (part.startsWith('\\')) return part.slice(1);
            if (part.startsWith('`')) return el('code', null, part.slice(1, -1));
            return part.startsWith('**')
                ? el('b', null, part.slice(2, -2))
                : el('i', null, part.slice(1, -1));
        });
}

const cells = (line) =>
    line
        .trim()
        .replace(/^\||\|$/g, '')
        .split('|')
        .map((cell) => cell.trim());

function tableOf(lines) {
    const [head, , ...body] = lines.map(cells);
    return el(
        'table',
        { class: 'plain small' },
        tableHead(head.map((c) => el('th', { class: 'text' }, inline(c)))),
        el(
            'tbody',
            null,
            body.map((row) =>
                el(
                    'tr',
                    null,
                    row.map((c) => el('td', { class: 'text' }, inline(c))),
                ),
            ),
        ),
    );
}

const KINDS = [
    ['heading', /^#{1,6}\s/],
    ['item', /^\s*(?:[-*]|\d+\.)\s/],
    ['row', /^\s*\|.*\|\s*$/],
    ['fence', /^```/],
    ['blank', /^\s*$|^!\[[^\]]*\]\([^)]*\)\s*$/], // also an image: the figure itself is above
];
const kindOf = (line) => KINDS.find(([, pattern]) => pattern.test(line))?.[0] ?? 'text';

// Lines of one block: [kind, lines].
function blocks(source) {
    const list = [];
    let fenced = false;
    for (const line of source.replaceAll('\r', '').split('\n')) {
        const kind = kindOf(line);
        const last = list.at(-1);
        if (kind === 'fence') {
            fenced = !fenced;
            if (fenced) list.push(['code', []]);
        } else if (fenced) {
            last[1].push(line);
        } else if (kind === 'text' && last?.[0] === 'item') {
            last[1].push(`${last[1].pop()} ${line.trim()}`);
        } else if (last && last[0] === kind && kind !== 'heading') {
            last[1].push(line);
        } else {
            list.push([kind, [line]]);
        }
    }
    return list.filter(([kind]) => kind !== 'blank');
}

function element([kind, lines]) {
    switch (kind) {
        case 'heading':
            return el('h4', null, inline(lines[0].replace(/^#+\s+/, '')));
        case 'item':
            return el(
                'ul',
                null,
                lines.map((line) =>
                    el('li', null, inline(line.replace(/^\s*(?:[-*]|\d+\.)\s+/, ''))),
                ),
            );
        case 'row':
            return lines.length > 1 ? tableOf(lines) : el('p', null, inline(lines[0]));
        case 'code':
            return el('pre', null, lines.join('\n'));
        default:
            return el('p', null, inline(lines.join(' ')));
    }
}

// The first heading apart, and the sections after it: { title, sections: [{ title, body: [...] }] }.
export function readMarkdown(source) {
    let title = '';
    const sections = [{ title: '', body: [] }];
    for (const block of blocks(source)) {
        const heading = block[0] === 'heading' ? block[1][0].replace(/^#+\s+/, '') : null;
        if (
            heading !== null &&
            title === '' &&
            sections.length === 1 &&
            sections[0].body.length === 0
        )
            title = heading;
        else if (heading !== null) sections.push({ title: heading, body: [] });
        else sections.at(-1).body.push(element(block));
    }
    return { title, sections: sections.filter((s) => s.title || s.body.length) };
}
