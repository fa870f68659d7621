// charts.js: the charting library, with only the parts that are used, and what its charts share.
import { BarChart, LineChart, ScatterChart } from 'echarts/charts';
import {
    BrushComponent,
    GridComponent,
    MarkLineComponent,
    TooltipComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { colour } from './theme.js';

echarts.use([
    BarChart,
    LineChart,
    ScatterChart,
    BrushComponent,
    GridComponent,
    MarkLineComponent,
    TooltipComponent,
    CanvasRenderer,
]);

const FONT = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
export const calm = matchMedia('(prefers-reduced-motion: reduce)');

// A chart that follows its element's size. Twice the pixels, so that print is sharp.
export function makeChart(element) {
    const chart = echarts.init(element, null, { devicePixelRatio: Math.max(2, devicePixelRatio) });
    new ResizeObserver(() => chart.resize()).observe(element);
    return chart;
}

// Names are shown by functions that make elements: a template string would be markup.
export function tooltip(show) {
    return {
        confine: true,
        backgroundColor: colour('--panel'),
        borderColor: colour('--line'),
        padding: 0,
        extraCssText: 'box-shadow: 0 4px 16px #0003; border-radius: 8px;',
        textStyle: { color: colour('--text'), fontFamily: FONT, fontSize: 12 },
        formatter: show,
    };
}

export function axis(more) {
    return {
        axisLine: { lineStyle: { color: colour('--line-strong') } },
        axisTick: { show: false },
        axisLabel: { color: colour('--muted'), fontFamily: FONT, fontSize: 11 },
        nameTextStyle: { color: colour('--muted'), fontFamily: FONT, fontSize: 12 },
        splitLine: { show: false },
        ...more,
    };
}

// Error bars as one line series with gaps: [x, low], [x, high], nothing.
export function errorBars(points, lineColour, more) {
    const data = points
        .filter(([, , se]) => Number.isFinite(se))
        .flatMap(([x, y, se]) => [
            [x, y - se],
            [x, y + se],
            [null, null],
        ]);
    return {
        type: 'line',
        data,
        showSymbol: false,
        silent: true,
        animation: false,
        z: 4,
        lineStyle: { color: lineColour, width: 1.2 },
        ...more,
    };
}

// Upright lines at these places of the x axis, which show where one is.
export function markAt(places) {
    return {
        silent: true,
        symbol: 'none',
        animation: false,
        label: { show: false },
        lineStyle: { type: 'solid', width: 2, color: colour('--accent') },
        data: places.map((xAxis) => ({ xAxis })),
    };
}
