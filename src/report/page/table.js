// table.js: a table that sorts by its column names and is read in pages.
// columns: { name, label, value(row), show(row), text } - `text` columns stand left and sort as words.
import { el, put, tableHead, whole } from './dom.js';

function compare(a, b) {
    if (typeof a === 'string' || typeof b === 'string')
        return String(a ?? '').localeCompare(String(b ?? ''), 'en', { numeric: true });
    const lost = Number(Number.isNaN(a)) - Number(Number.isNaN(b)); // what is not there stands last
    return lost ? lost : a - b;
}

export function makeTable(
    place,
    columns,
    { perPage = 25, noun = 'rows', rowClass = () => null, caption = '' },
) {
    let rows = [];
    let sorted = null; // { column, down }
    let page = 0;
    const table = el('table', { class: 'plain sortable', 'aria-label': caption });
    const pager = el('div', { class: 'pager' });
    put(place, el('div', { class: 'scroll' }, table), pager);

    function ordered() {
        if (!sorted) return rows;
        const { column, down } = sorted;
        return rows
            .map((row) => [column.value(row), row])
            .sort(([a], [b]) =>
                down && !Number.isNaN(a) && !Number.isNaN(b) ? compare(b, a) : compare(a, b),
            )
            .map(([, row]) => row);
    }

    function sortBy(column) {
        const again = sorted?.column === column;
        if (again && sorted.down !== (column.text !== true)) sorted = null;
        else sorted = { column, down: again ? !sorted.down : !column.text };
        page = 0;
        redraw();
        table.querySelector(`[data-column="${column.name}"]`)?.focus();
    }

    function header(column) {
        const here = sorted?.column === column;
        return el(
            'th',
            {
                scope: 'col',
                class: column.text ? 'text' : null,
                'aria-sort': here ? (sorted.down ? 'descending' : 'ascending') : null,
            },
            column.fixed
                ? column.label
                : el(
                      'button',
                      { type: 'button', 'data-column': column.name, onclick: () => sortBy(column) },
                      column.label,
                  ),
        );
    }

    function turn(by) {
        page += by;
        redraw();
    }

    function drawPager(count) {
        const pages = Math.max(1, Math.ceil(count / perPage));
        page = Math.min(Math.max(page, 0), pages - 1);
        const first = count ? page * perPage + 1 : 0;
        put(
            pager,
            el(
                'span',
                null,
                `${whole(first)}–${whole(Math.min(count, (page + 1) * perPage))} of ${whole(count)} ${noun}`,
            ),
            el(
                'button',
                { type: 'button', disabled: page === 0, onclick: () => turn(-1) },
                'Previous',
            ),
            el(
                'button',
                { type: 'button', disabled: page >= pages - 1, onclick: () => turn(1) },
                'Next',
            ),
        );
    }

    function redraw() {
        const list = ordered();
        drawPager(list.length);
        const body = list.slice(page * perPage, (page + 1) * perPage).map((row) =>
            el(
                'tr',
                { class: rowClass(row) },
                columns.map((column) =>
                    el('td', { class: column.text ? 'text' : null }, column.show(row)),
                ),
            ),
        );
        put(table, tableHead(columns.map(header)), el('tbody', null, body));
    }

    return {
        element: table,
        rows: ordered,
        setRows(list, keepPage) {
            rows = list;
            if (!keepPage) page = 0;
            redraw();
        },
    };
}
