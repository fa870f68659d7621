// screenshots.mjs: the pictures of docs/report.md: node screenshots.mjs CHROMIUM TRAINING MODELS FOLDER
// TRAINING and MODELS are pages that qkscope report has written; FOLDER is docs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Chromium } from './chromium.mjs';

const [program, training, models, folder] = process.argv.slice(2);
const browser = Chromium.start(program);

async function open(path, options) {
    const page = await browser.page({ scale: 1.25, ...options });
    await page.open(pathToFileURL(path).href);
    await page.until(
        () => window.qkscope !== undefined && document.getElementById('status').textContent !== '',
    );
    return page;
}

const rest = (page) => page.run(() => new Promise((done) => setTimeout(done, 1200)));

async function take(page, name) {
    await rest(page);
    const picture = await page.screenshot();
    writeFileSync(join(folder, name), picture);
    console.log(`${name}: ${picture.length} bytes`);
}

const show = (page, id) =>
    page.run((i) => document.getElementById(i).scrollIntoView({ behavior: 'instant' }), id);

try {
    const light = await open(training, { width: 1280, height: 860 });
    await take(light, 'report-findings.png');
    await light.run(() => {
        const { state, data } = window.qkscope;
        state.goTo(6);
        state.set({ head: data.headsOf[6].find((h) => data.pc('r_k', h, 0) < -0.5) });
    });
    await show(light, 'explore');
    await take(light, 'report-explorer.png');
    await light.close();

    const dark = await open(models, { width: 1280, height: 860, dark: true });
    await show(dark, 'explore');
    await take(dark, 'report-dark.png');
    await dark.close();

    const narrow = await open(training, { width: 400, height: 860 });
    await show(narrow, 'explore');
    await take(narrow, 'report-narrow.png');
    await narrow.close();
} finally {
    await browser.close();
}
