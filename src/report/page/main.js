// main.js: reads the data out of the page and draws everything.
import { readData } from './data.js';
import { byId } from './dom.js';
import { makeExplorer } from './explorer.js';
import { drawFigures } from './figures.js';
import { makeFindings } from './findings.js';
import { makeState } from './state.js';
import { drawStudy } from './study.js';
import { startTheme } from './theme.js';

function start() {
    const data = readData(JSON.parse(byId('data').textContent));
    const state = makeState(data);
    let explorer = null;
    startTheme(() => explorer?.redraw());
    drawStudy(data);
    drawFigures(data);
    if (data.heads.count > 0) {
        explorer = makeExplorer(data, state);
        explorer.redraw();
    } else {
        byId('explore').hidden = true;
    }
    makeFindings(data, state);
    window.qkscope = { data, state, chart: explorer?.scatter.chart }; // for the console, and for tests
}

try {
    start();
} catch (fault) {
    byId('fault').hidden = false;
    byId('fault').textContent = `The page could not be drawn: ${fault.message}`;
    throw fault;
}
