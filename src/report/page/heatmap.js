// heatmap.js: means by model and depth, as a table of buttons: a cell shows its heads in the scatter.
// One cell is in the tab order; arrow keys move from there.
import { inkOn, mix } from './colours.js';
import { byId, el, ellipsis, fixed, put, short, tableHead, whole } from './dom.js';
import { isDark } from './theme.js';

const QUANTITIES = {
    r_q: { label: 'r_q', high: '#1d5fbf', low: '#b45309', write: (v) => fixed(v, 2), most: 1 },
    r_k: { label: 'r_k', high: '#c81e2c', low: '#0f766e', write: (v) => fixed(v, 2), most: 1 },
    explained_variance: {
        label: 'explained variance',
        high: '#6d28d9',
        low: '#6d28d9',
        write: (v) => fixed(v, 2),
    },
    bias_strength: { label: 'bias strength', high: '#b45309', low: '#0f766e', write: short },
    n_heads: { label: 'number of heads', high: '#475569', low: '#475569', write: whole },
};

export function makeHeatmap(data, state) {
    const { depth, models } = data;
    const tableElement = byId('heatmap');
    const select = byId('quantity');
    if (!depth) {
        byId('depth-panel').hidden = true;
        return { redraw() {} };
    }
    let place = [0, 0]; // of the cell in the tab order
    put(
        select,
        depth.quantities.map((name) => el('option', { value: name }, QUANTITIES[name].label)),
    );
    if (depth.quantities.includes('r_k')) select.value = 'r_k';
    select.addEventListener('change', () => redraw());

    // model null: a column, which stays with the model in view.
    function press(model, bin, add) {
        const here = model === null || state.model === model;
        const bins = new Set(add ? state.bins : []);
        if (here && state.bins.has(bin) && (add || state.bins.size === 1)) bins.delete(bin);
        else bins.add(bin);
        if (model !== null) state.goTo(model);
        state.set({ bins });
    }

    function largest(name) {
        let most = 0;
        for (let m = 0; m < models.count; m++)
            for (let b = 0; b < depth.bins; b++) {
                const size = Math.abs(depth.value(name, m, b));
                if (size > most) most = size;
            }
        return most || 1;
    }

    function paint(value, { high, low, most }) {
        const base = isDark() ? '#1b212b' : '#f5f7fa';
        const share = Math.min(1, Math.abs(value) / most);
        const background = mix(base, value < 0 ? low : high, 0.06 + 0.94 * share);
        return { background, color: inkOn(background) };
    }

    function cell(m, bin, how, name) {
        const value = depth.value(name, m, bin);
        const count = depth.value('n_heads', m, bin);
        if (!(count > 0) || !Number.isFinite(value))
            return el(
                'td',
                null,
                el(
                    'button',
                    { type: 'button', class: 'empty', disabled: true, title: 'no heads' },
                    '·',
                ),
            );
        const chosen = state.model === m && state.bins.has(bin);
        return el(
            'td',
            null,
            el(
                'button',
                {
                    type: 'button',
                    tabindex: place[0] === m && place[1] === bin ? 0 : -1,
                    'data-place': `${m} ${bin}`,
                    'aria-pressed': chosen,
                    'aria-label': `${models.name[m]}, depth ${depth.labels[bin]}: ${how.label} ${how.write(value)}, ${count} heads`,
                    title: `${models.name[m]}, depth ${depth.labels[bin]}: ${how.write(value)} over ${count} heads`,
                    style: paint(value, how),
                    onclick: (event) =>
                        press(m, bin, event.shiftKey || event.ctrlKey || event.metaKey),
                },
                how.write(value),
            ),
        );
    }

    const at = (m, bin) => tableElement.querySelector(`[data-place="${m} ${bin}"]`);

    function move(event) {
        const steps = {
            ArrowLeft: [0, -1],
            ArrowRight: [0, 1],
            ArrowUp: [-1, 0],
            ArrowDown: [1, 0],
        };
        const from = event.target.dataset.place?.split(' ').map(Number);
        if (!from || !steps[event.key]) return;
        event.preventDefault();
        let [m, bin] = from;
        do {
            m += steps[event.key][0];
            bin += steps[event.key][1];
        } while (m >= 0 && m < models.count && bin >= 0 && bin < depth.bins && !at(m, bin));
        const target = at(m, bin);
        if (!target) return;
        event.target.tabIndex = -1;
        target.tabIndex = 0;
        place = [m, bin];
        target.focus();
    }
    tableElement.addEventListener('keydown', move);

    function head() {
        const columns = depth.labels.map((label, bin) =>
            el(
                'th',
                { scope: 'col' },
                el(
                    'button',
                    {
                        type: 'button',
                        'aria-pressed': state.bins.has(bin),
                        title: `heads at depth ${label}, in any model`,
                        onclick: (event) =>
                            press(null, bin, event.shiftKey || event.ctrlKey || event.metaKey),
                    },
                    label,
                ),
            ),
        );
        return tableHead(el('th', null), columns);
    }

    function row(m, how, name) {
        const header = el(
            'th',
            { scope: 'row' },
            el(
                'button',
                {
                    type: 'button',
                    title: models.name[m],
                    'aria-pressed': state.model === m,
                    onclick: () => state.goTo(m),
                },
                ellipsis(models.name[m], 18),
            ),
        );
        const cells = depth.labels.map((_, bin) => cell(m, bin, how, name));
        return el('tr', null, header, cells);
    }

    function redraw() {
        const name = select.value;
        const how = { ...QUANTITIES[name], most: QUANTITIES[name].most ?? largest(name) };
        const focused = document.activeElement?.dataset?.place;
        const rows = Array.from({ length: models.count }, (_, m) => row(m, how, name));
        put(tableElement, head(), el('tbody', null, rows));
        if (!tableElement.querySelector('[tabindex="0"]'))
            tableElement.querySelector('[data-place]')?.setAttribute('tabindex', '0');
        if (focused) tableElement.querySelector(`[data-place="${focused}"]`)?.focus();
    }

    return { redraw };
}
