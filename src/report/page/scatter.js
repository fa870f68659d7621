// scatter.js: r_q against r_k of every head in view. Heads in focus are drawn in full and can be
// brushed and clicked; the others stay as faint dots. Heads of layers without RoPE are hollow.
import { axis, calm, makeChart, tooltip } from './charts.js';
import { byId, el, fixed, withError } from './dom.js';
import { ALL } from './state.js';
import { colour } from './theme.js';

const THRESHOLDS = { x: [0.3, 0.7], y: [-0.7, -0.3, 0.3, 0.7] }; // of the taxonomy
const TICKS = { x: [0, 0.2, 0.4, 0.6, 0.8, 1], y: [-1, -0.5, 0, 0.5, 1] };
const SIZES = [
    [400, 9],
    [1200, 7.5],
    [5000, 6],
    [Infinity, 4],
]; // heads, px of a point
const MOVE = 700; // ms from one checkpoint to the next
const ANIMATED = 5000; // more points than this jump

// An order without order, always the same: models drawn one after another would hide the first.
const shuffled = (h) => Math.imul(h + 1, 0x9e3779b1) >>> 0;

// Whether a point lies in a brushed area, in the axes' own numbers.
function inside({ brushType, coordRange }) {
    if (brushType === 'rect') {
        const [[left, right], [low, high]] = coordRange;
        return (u, v) => u >= left && u <= right && v >= low && v <= high;
    }
    // A line from the point to the right crosses the outline an odd number of times.
    return (u, v) =>
        coordRange.reduce((odd, [a, b], i) => {
            const [c, d] = coordRange.at(i - 1);
            return b > v !== d > v && u < ((c - a) * (v - b)) / (d - b) + a ? !odd : odd;
        }, false);
}

export function makeScatter(data, state) {
    const element = byId('scatter');
    const chart = makeChart(element);
    const { heads, models } = data;
    let shown = { matching: [], focus: [], context: [] };
    let brushType = 'rect';
    let adding = false; // Shift was held when the drag began

    const x = (h) => data.pc('r_q', h, state.pc);
    const y = (h) => data.pc('r_k', h, state.pc);

    function point(h) {
        const own = state.scheme.colour(h);
        const hollow = heads.rope?.[h] === 0;
        return {
            id: String(state.model === ALL ? h : state.key(h)),
            value: [x(h), y(h)],
            itemStyle: hollow
                ? { color: colour('--panel'), borderColor: own, borderWidth: 1.6 }
                : { color: own },
        };
    }

    // From where each head in focus was at the checkpoint before.
    function trails() {
        if (!state.trails || !data.training || state.model < 1) return [];
        return shown.focus.flatMap((h) => {
            const before = data.inModel(h, state.model - 1);
            return before < 0
                ? []
                : [
                      [x(before), y(before)],
                      [x(h), y(h)],
                      [null, null],
                  ];
        });
    }

    function path() {
        if (!data.training || state.head < 0) return [];
        return data.path(state.head).map((h) => [x(h), y(h)]);
    }

    function describe(h) {
        const m = heads.model[h];
        return el(
            'div',
            { class: 'tip' },
            el('b', null, data.label(h)),
            el('span', { class: 'tip-model' }, models.name[m]),
            el('div', null, `r_q ${withError(x(h), data.pc('se_r_q', h, state.pc))}`),
            el('div', null, `r_k ${withError(y(h), data.pc('se_r_k', h, state.pc))}`),
            el(
                'div',
                null,
                `PC${state.pc}: ${fixed(100 * data.pc('explained_variance', h, state.pc), 1)}% of variance`,
            ),
            heads.class?.[h] ? el('div', null, heads.class[h]) : null,
        );
    }

    function guides() {
        const line = { type: 'dashed', width: 1, color: colour('--guide') };
        return {
            silent: true,
            symbol: 'none',
            animation: false,
            label: { show: false },
            lineStyle: line,
            data: [
                ...(state.pc === 0 ? THRESHOLDS.x.map((v) => ({ xAxis: v })) : []),
                ...(state.pc === 0 ? THRESHOLDS.y.map((v) => ({ yAxis: v })) : []),
                { yAxis: 0, lineStyle: { type: 'solid', color: colour('--line-strong') } },
            ],
        };
    }

    const ticks = (values) => ({
        axisLabel: {
            color: colour('--muted'),
            fontSize: 11,
            customValues: values,
            formatter: (v) => fixed(v, 1),
        },
        axisTick: {
            show: true,
            customValues: values,
            lineStyle: { color: colour('--line-strong') },
        },
        axisLine: { show: true, onZero: false, lineStyle: { color: colour('--line-strong') } },
    });

    function option() {
        const animate = !calm.matches && shown.focus.length <= ANIMATED;
        const [, size] = SIZES.find(([most]) => shown.focus.length <= most);
        const at =
            state.head >= 0 && (state.model === ALL || heads.model[state.head] === state.model)
                ? [[x(state.head), y(state.head)]]
                : [];
        const moving = {
            animation: animate,
            animationDuration: 300,
            animationDurationUpdate: MOVE,
            animationEasingUpdate: 'cubicInOut',
        };
        return {
            textStyle: { fontFamily: 'inherit' },
            grid: { left: 50, right: 16, top: 12, bottom: 44 },
            xAxis: axis({
                type: 'value',
                min: -0.05,
                max: 1.05,
                name: 'r_q: queries',
                nameLocation: 'middle',
                nameGap: 26,
                ...ticks(TICKS.x),
            }),
            yAxis: axis({
                type: 'value',
                min: -1.05,
                max: 1.05,
                name: 'r_k: keys',
                nameLocation: 'middle',
                nameGap: 34,
                ...ticks(TICKS.y),
            }),
            tooltip: {
                ...tooltip(({ seriesId, dataIndex }) =>
                    seriesId === 'heads' ? describe(shown.focus[dataIndex]) : '',
                ),
                trigger: 'item',
            },
            brush: {
                xAxisIndex: 0,
                yAxisIndex: 0,
                seriesIndex: [1],
                brushMode: 'single',
                transformable: false,
                throttleType: 'fixRate',
                throttleDelay: 30,
                brushStyle: {
                    borderWidth: 1,
                    color: colour('--brush'),
                    borderColor: colour('--accent'),
                },
                inBrush: { opacity: 1 },
                outOfBrush: { colorAlpha: 0.25 },
            },
            series: [
                {
                    id: 'context',
                    type: 'scatter',
                    data: shown.context.map((h) => [x(h), y(h)]),
                    symbolSize: 3.5,
                    progressive: 0,
                    silent: true,
                    animation: false,
                    itemStyle: { color: colour('--faint') },
                    z: 1,
                    markLine: guides(),
                },
                {
                    id: 'heads',
                    type: 'scatter',
                    data: shown.focus.map(point),
                    symbolSize: size,
                    progressive: 0,
                    itemStyle: { opacity: 0.85 },
                    emphasis: { scale: 1.5, itemStyle: { opacity: 1 } },
                    z: 3,
                    ...moving,
                },
                {
                    id: 'trails',
                    type: 'line',
                    data: trails(),
                    showSymbol: false,
                    silent: true,
                    animation: false,
                    lineStyle: { width: 0.8, color: colour('--trail') },
                    z: 2,
                },
                {
                    id: 'path',
                    type: 'line',
                    data: path(),
                    symbol: 'circle',
                    symbolSize: 4,
                    showSymbol: true,
                    silent: true,
                    animation: false,
                    lineStyle: { width: 1.8, color: colour('--text') },
                    itemStyle: { color: colour('--text') },
                    z: 4,
                },
                {
                    id: 'head',
                    type: 'scatter',
                    data: at,
                    symbolSize: size + 8,
                    silent: true,
                    itemStyle: {
                        color: 'transparent',
                        borderColor: colour('--text'),
                        borderWidth: 2.2,
                    },
                    z: 5,
                    ...moving,
                },
            ],
        };
    }

    // ---- the brush ----

    function takeBrush() {
        chart.dispatchAction({
            type: 'takeGlobalCursor',
            key: 'brush',
            brushOption: { brushType, brushMode: 'single' },
        });
    }

    chart.on('brushEnd', ({ areas }) => {
        if (areas.length === 0) return;
        chart.dispatchAction({ type: 'brush', areas: [] }); // the selection stays, its outline goes
        const within = inside(areas[0]);
        const list = shown.matching.filter((h) => within(x(h), y(h)));
        if (list.length > 0) state.select(list, adding);
    });
    element.addEventListener(
        'pointerdown',
        (event) => {
            adding = event.shiftKey;
        },
        true,
    );
    chart.on('click', ({ seriesId, dataIndex, event }) => {
        if (seriesId !== 'heads') return;
        const h = shown.focus[dataIndex];
        if (event.event.shiftKey) state.toggle(h);
        else state.set({ head: h });
    });

    // ---- the keyboard ----

    // The head nearest in a direction: what lies off the line counts double.
    function neighbour(dx, dy) {
        const from = shown.focus.includes(state.head) ? state.head : shown.focus[0];
        let best = from;
        let least = Infinity;
        for (const h of shown.focus) {
            const along = (x(h) - x(from)) * dx + ((y(h) - y(from)) / 2) * dy;
            const across = Math.abs((x(h) - x(from)) * dy + ((y(h) - y(from)) / 2) * dx);
            if (along > 1e-6 && along + 2 * across < least) {
                least = along + 2 * across;
                best = h;
            }
        }
        return best;
    }

    const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    element.addEventListener('keydown', (event) => {
        if (STEPS[event.key] && shown.focus.length > 0) {
            const h = neighbour(...STEPS[event.key]);
            byId('spoken').textContent =
                `${data.label(h)}, r_q ${fixed(x(h))}, r_k ${fixed(y(h))}, ${heads.class?.[h] ?? ''}`;
            state.set({ head: h });
        } else if (event.key === 'Enter' && state.head >= 0) {
            state.toggle(state.head);
        } else {
            return;
        }
        event.preventDefault();
    });

    return {
        chart,
        shown: () => shown,
        setBrush(type) {
            brushType = type;
            takeBrush();
        },
        redraw() {
            shown = state.split();
            if (state.model === ALL) shown.focus.sort((a, b) => shuffled(a) - shuffled(b));
            chart.setOption(option());
            takeBrush();
            const model = state.model === ALL ? 'all models' : models.name[state.model];
            element.setAttribute(
                'aria-label',
                `Scatter of r_q and r_k of ${shown.focus.length} heads, ${model}`,
            );
        },
    };
}
