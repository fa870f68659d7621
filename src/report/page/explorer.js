// explorer.js: the parts of the explorer, the controls above them, and the one redraw they share.
import { makeCard } from './card.js';
import { schemes } from './colours.js';
import { byId, el, put, whole } from './dom.js';
import { makeHeadList } from './headlist.js';
import { makeHeatmap } from './heatmap.js';
import { makeLegend } from './legend.js';
import { makePlayer } from './player.js';
import { makeScatter } from './scatter.js';
import { matcher } from './search.js';
import { ALL } from './state.js';

// The head to begin with: of a training run the one whose keys move most, else the most positional.
function mostTelling(data, state) {
    const { heads } = data;
    const moved = (h) => {
        const path = data.path(h);
        return Math.abs(data.pc('r_k', path.at(-1), 0) - data.pc('r_k', path[0], 0));
    };
    const score = data.training
        ? moved
        : (h) => data.pc('explained_variance', h, 0) * data.pc('r_q', h, 0) ** 2;
    const list = state.model === ALL ? [...heads.layer.keys()] : data.headsOf[state.model];
    return list.reduce((best, h) => (best < 0 || score(h) > score(best) ? h : best), -1);
}

function startControls(data, state, scatter) {
    const list = schemes(data);
    const colour = byId('colour');
    put(
        colour,
        list.map((s) => el('option', { value: s.name }, s.label)),
    );
    state.scheme = (!data.training && list.find((s) => s.name === 'group')) || list[0];
    colour.value = state.scheme.name;
    colour.addEventListener('change', () =>
        state.set({ scheme: list.find((s) => s.name === colour.value), hidden: new Set() }),
    );

    const pc = byId('pc');
    put(
        pc,
        Array.from({ length: data.components }, (_, i) => el('option', { value: i }, String(i))),
    );
    pc.addEventListener('change', () => state.set({ pc: Number(pc.value) }));

    const trails = byId('trails');
    byId('trails-label').hidden = !data.training;
    trails.checked = state.trails;
    trails.addEventListener('change', () => state.set({ trails: trails.checked }));

    const brushes = { rect: byId('brush-rect'), polygon: byId('brush-polygon') };
    for (const [type, button] of Object.entries(brushes))
        button.addEventListener('click', () => {
            for (const other of Object.values(brushes))
                other.setAttribute('aria-pressed', other === button);
            scatter.setBrush(type);
        });

    const search = byId('search');
    search.addEventListener('input', () =>
        state.set({ query: search.value.trim(), matches: matcher(data, state, search.value) }),
    );
    byId('reset').addEventListener('click', () => state.reset());
    byId('explore').addEventListener('keydown', (event) => {
        if (event.key === 'Escape') state.reset();
    });
}

function status(data, state, { focus, context }) {
    const model = state.model === ALL ? 'all models' : data.models.name[state.model];
    const selected = state.selection.size ? `, ${whole(state.selection.size)} selected` : '';
    return `${model}: ${whole(focus.length)} of ${whole(focus.length + context.length)} heads${selected}`;
}

export function makeExplorer(data, state) {
    const scatter = makeScatter(data, state);
    startControls(data, state, scatter);
    const legend = makeLegend(data, state);
    const player = makePlayer(data, state);
    const heatmap = makeHeatmap(data, state);
    const card = makeCard(data, state);
    const list = makeHeadList(data, state);
    state.head = mostTelling(data, state);

    function redraw() {
        scatter.redraw();
        const shown = scatter.shown();
        legend.redraw();
        player.redraw();
        heatmap.redraw();
        card.redraw();
        list.redraw([...shown.focus].sort((a, b) => a - b));
        byId('status').textContent = status(data, state, shown);
        byId('reset').disabled = !state.isFiltered();
        if (byId('search').value.trim() !== state.query) byId('search').value = state.query;
    }
    state.onChange(redraw);
    return { redraw, scatter };
}
