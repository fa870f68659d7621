// player.js: the slider through checkpoints or models, its play button, and the strip of means below
// it, which shows where one is.
import { axis, errorBars, makeChart, markAt } from './charts.js';
import { R_K, R_Q } from './colours.js';
import { byId, ellipsis, put, el } from './dom.js';
import { ALL } from './state.js';
import { colour } from './theme.js';

const STEP = 1300; // ms that a checkpoint is shown
const LETTER = 6; // px, about

// Places between models where the phase changes, as [index of the later, name of the phase].
export function boundaries({ models }) {
    const list = [];
    for (let m = 0; m < models.count; m++)
        if (m === 0 || models.group[m] !== models.group[m - 1]) list.push([m, models.group[m]]);
    return list.every(([, name]) => name === null) ? [] : list;
}

// Names are cut to the room they have in `width` pixels; 0: no names.
export function phaseLines(data, width) {
    const list = boundaries(data);
    const letters = (i) => {
        const models = (list[i + 1]?.[0] ?? data.models.count) - list[i][0];
        return Math.floor((width * models) / Math.max(1, data.models.count - 1) / LETTER);
    };
    return {
        silent: true,
        symbol: 'none',
        animation: false,
        data: list.map(([m, name], i) => ({
            xAxis: Math.max(0, m - 0.5),
            lineStyle: { type: 'dashed', width: m === 0 ? 0 : 1, color: colour('--line-strong') },
            label: {
                show: letters(i) > 2,
                formatter: () => ellipsis(name ?? '', letters(i)),
                position: 'insideEndTop',
                rotate: 0,
                align: 'left',
                distance: 3,
                color: colour('--muted'),
                fontSize: 10,
            },
        })),
    };
}

export function makePlayer(data, state) {
    const { models } = data;
    const slider = byId('slider');
    const play = byId('play');
    const all = byId('all');
    const element = byId('timeline');
    const chart = makeChart(element);
    let timer = null;

    slider.max = models.count - 1;
    if (models.count < 2)
        for (const part of document.querySelectorAll('.player, .means')) part.hidden = true;

    function stop() {
        clearInterval(timer);
        timer = null;
        showPlay();
    }

    function showPlay() {
        play.setAttribute(
            'aria-label',
            timer ? 'Pause' : data.training ? 'Play through training' : 'Play through the models',
        );
        put(play, el('span', { class: timer ? 'pause' : 'triangle' }));
    }

    function next() {
        if (state.model >= models.count - 1) stop();
        else state.goTo(state.model + 1);
    }

    play.addEventListener('click', () => {
        if (timer) {
            stop();
            return;
        }
        state.goTo(state.model === ALL || state.model >= models.count - 1 ? 0 : state.model + 1);
        timer = setInterval(next, STEP);
        showPlay();
    });
    slider.addEventListener('input', () => {
        stop();
        state.goTo(Number(slider.value));
    });
    all.addEventListener('change', () => {
        stop();
        state.goTo(all.checked ? ALL : Number(slider.value));
    });
    chart.getZr().on('click', (event) => {
        const [at] = chart.convertFromPixel({ gridIndex: 0 }, [event.offsetX, event.offsetY]);
        stop();
        state.goTo(Math.min(models.count - 1, Math.max(0, Math.round(at))));
    });
    showPlay();

    function line(name, mean, se, ink) {
        const points = Array.from(mean ?? [], (v, m) => [
            m,
            Number.isFinite(v) ? v : null,
            1.96 * (se?.[m] ?? NaN),
        ]);
        return [
            {
                name,
                type: 'line',
                data: points.map(([m, v]) => [m, v]),
                symbol: 'circle',
                symbolSize: 5,
                animation: false,
                silent: true,
                itemStyle: { color: ink },
                lineStyle: { color: ink, width: data.training ? 2 : 0 },
            },
            errorBars(points, ink),
        ];
    }

    function option() {
        const [first, second, third, fourth] = [
            ...line('r_q', models.mean_r_q, models.se_r_q, R_Q),
            ...line('r_k', models.mean_r_k, models.se_r_k, R_K),
        ];
        return {
            grid: { left: 9, right: 9, top: 16, bottom: 18 },
            xAxis: axis({
                type: 'value',
                min: -0.0,
                max: models.count - 1,
                interval: 1,
                axisLabel: {
                    color: colour('--muted'),
                    fontSize: 10,
                    hideOverlap: true,
                    formatter: (m) => ellipsis(models.name[m] ?? '', 14),
                    alignMinLabel: 'left',
                    alignMaxLabel: 'right',
                },
            }),
            yAxis: axis({
                type: 'value',
                min: (v) => Math.min(0, Math.floor(v.min * 10) / 10),
                max: 1,
                show: false,
            }),
            series: [
                { ...first, markLine: phaseLines(data, element.clientWidth) },
                second,
                { ...third, markLine: markAt(state.model === ALL ? [] : [state.model]) },
                fourth,
            ],
        };
    }

    function redraw() {
        slider.disabled = state.model === ALL;
        if (state.model !== ALL) slider.value = state.model;
        slider.setAttribute('aria-label', data.training ? 'Checkpoint' : 'Model');
        slider.setAttribute(
            'aria-valuetext',
            state.model === ALL ? 'all' : models.name[state.model],
        );
        all.checked = state.model === ALL;
        chart.setOption(option(), { replaceMerge: ['series'] });
    }
    new ResizeObserver(redraw).observe(element); // names have other room then
    return { redraw };
}
