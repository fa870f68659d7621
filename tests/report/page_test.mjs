// page_test.mjs: the page in a real Chromium: node page_test.mjs CHROMIUM RUN HOSTILE ONE FOLDER
// RUN, HOSTILE and ONE are pages that tests/cli/report.sh has written: a training run; the same with
// names that try to break out; one model with error bars. Downloads go to FOLDER.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Chromium } from './chromium.mjs';

const [program, run, hostile, one, folder] = process.argv.slice(2);
const browser = Chromium.start(program);
const SHIFT = 8;

// ---- what a reader sees ----

const status = (page) => page.run(() => document.getElementById('status').textContent);
const counted = async (page) =>
    Number((await status(page)).match(/: ([\d,]+) of/)[1].replaceAll(',', ''));
const settled = (page) =>
    page.run(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// Where the points of the heads in focus are drawn, in the window's pixels.
const points = (page) =>
    page.run(() => {
        const { chart } = window.qkscope;
        document.getElementById('scatter').scrollIntoView({ block: 'center', behavior: 'instant' });
        const box = document.getElementById('scatter').getBoundingClientRect();
        const { data } = chart.getOption().series.find((s) => s.id === 'heads');
        return data.map(({ id, value }) => {
            const [x, y] = chart.convertToPixel({ gridIndex: 0 }, value);
            return { id, value, x: box.x + x, y: box.y + y };
        });
    });

const column = (page, n) =>
    page.run(
        (i) =>
            [...document.querySelectorAll('#head-table tbody tr')].map(
                (row) => row.cells[i].textContent,
            ),
        n,
    );
const headers = (page) =>
    page.run(() => [...document.querySelectorAll('#head-table th')].map((th) => th.textContent));
const numbers = (cells) => cells.map((cell) => Number(cell.replace('−', '-').replace(/ ±.*/, '')));

async function open(path, options) {
    const page = await browser.page(options);
    await page.open(pathToFileURL(path).href);
    await page.until(
        () => window.qkscope !== undefined && document.getElementById('status').textContent !== '',
    );
    await settled(page);
    return page;
}

async function clear(page) {
    await page.run(() => window.qkscope.state.reset());
    await settled(page);
}

// ---- the tests ----

const tests = {
    async 'the study is told, findings first'(page) {
        const shown = await page.run(() => ({
            title: document.title,
            tiles: document.getElementById('tiles').innerText,
            findings: [...document.querySelectorAll('.finding .sentence')].map(
                (p) => p.textContent,
            ),
            order:
                document
                    .getElementById('findings')
                    .compareDocumentPosition(document.getElementById('explore')) &
                Node.DOCUMENT_POSITION_FOLLOWING,
            models: document.querySelectorAll('#models tbody tr').length,
            failed: document.querySelector('#models .failed').textContent,
        }));
        assert.equal(shown.title, 'smollm3-training – qkscope');
        assert.match(shown.tiles, /300\s+heads each/);
        assert.match(shown.tiles, /62\.9 M/);
        assert.ok(shown.findings.length >= 6, 'cards of findings');
        assert.ok(shown.findings.some((sentence) => /rises|falls/.test(sentence)));
        assert.ok(shown.order);
        assert.equal(shown.models, 11, 'ten checkpoints and one that failed');
        assert.match(shown.failed, /LC3.*out of memory/);
    },

    async 'the slider moves the points'(page) {
        assert.match(await status(page), /^LC2-20K: 300 of 300/, 'the end of training is shown');
        await page.run(() => document.getElementById('slider').focus());
        await page.key('Home');
        await settled(page);
        const before = await points(page);
        await page.key('ArrowRight');
        await settled(page);
        assert.match(await status(page), /^S1-1\.2M: 300 of 300/);
        const after = await points(page);
        assert.deepEqual(
            after.map((p) => p.id),
            before.map((p) => p.id),
            'the same heads',
        );
        const moved = after.filter(
            (p, i) =>
                Math.hypot(p.value[0] - before[i].value[0], p.value[1] - before[i].value[1]) > 0.01,
        );
        assert.ok(moved.length > 200, `${moved.length} of 300 heads moved`);
        assert.equal(
            await page.run(() => document.getElementById('slider').getAttribute('aria-valuetext')),
            'S1-1.2M',
        );
    },

    async 'play goes on by itself, and stops'(page) {
        await page.press('#play');
        await page.until(() => window.qkscope.state.model >= 3);
        await page.press('#play');
        await settled(page);
        const model = await page.run(() => window.qkscope.state.model);
        assert.equal(
            await page.run(() => document.getElementById('play').getAttribute('aria-label')),
            'Play through training',
        );
        await page.run(() => window.qkscope.state.goTo(0));
        await settled(page);
        assert.ok(model >= 3 && model < 9);
    },

    async 'a box selects the heads inside it, and they stay selected'(page) {
        const all = await points(page);
        const [left, top] = [
            Math.min(...all.map((p) => p.x)) + 60,
            Math.min(...all.map((p) => p.y)) + 40,
        ];
        const [right, bottom] = [left + 320, top + 260];
        const inside = all.filter((p) => p.x > left && p.x < right && p.y > top && p.y < bottom);
        await page.drag([
            [left, top],
            [left + 150, top + 100],
            [right, bottom],
        ]);
        await settled(page);
        assert.ok(inside.length > 5 && inside.length < 300);
        assert.equal(await counted(page), inside.length);
        assert.deepEqual(
            (await points(page)).map((p) => p.id).sort(),
            inside.map((p) => p.id).sort(),
        );
        await page.run(() => window.qkscope.state.goTo(5));
        await settled(page);
        assert.equal(await counted(page), inside.length, 'the same heads, five checkpoints on');
        await page.run(() => window.qkscope.state.goTo(0));
        await clear(page);
        assert.equal(await counted(page), 300);
    },

    async 'with Shift a second box adds, and the lasso works'(page) {
        const all = await points(page);
        const [a, b] = [all[0], all.find((p) => Math.hypot(p.x - all[0].x, p.y - all[0].y) > 100)];
        const around = (p) => [
            [p.x - 6, p.y - 6],
            [p.x, p.y],
            [p.x + 6, p.y + 6],
        ];
        await page.drag(around(a));
        await settled(page);
        const chosen = await page.run(() => [...window.qkscope.state.selection]);
        await page.drag(around(b), { modifiers: SHIFT });
        await settled(page);
        const both = await page.run(() => [...window.qkscope.state.selection]);
        assert.ok(chosen.length >= 1 && both.length > chosen.length, 'Shift adds');
        assert.ok(chosen.every((key) => both.includes(key)));
        await clear(page);
        await page.press('#brush-polygon');
        const c = (await points(page))[0];
        await page.drag([
            [c.x - 30, c.y - 30],
            [c.x + 30, c.y - 30],
            [c.x + 30, c.y + 30],
            [c.x - 30, c.y + 30],
            [c.x - 30, c.y - 28],
        ]);
        await settled(page);
        assert.ok((await counted(page)) < 300, 'the lasso caught some');
        assert.ok(await page.run((id) => window.qkscope.state.selection.has(id), c.id));
        await page.press('#brush-rect');
        await clear(page);
    },

    async 'a click on a point shows its card'(page) {
        const all = await points(page);
        const alone = all.find((p) =>
            all.every((o) => o === p || Math.hypot(o.x - p.x, o.y - p.y) > 14),
        );
        await page.click(alone.x, alone.y);
        await settled(page);
        const [layer, head] = alone.id.split('/');
        assert.equal(
            await page.run(() => document.querySelector('#card h3').textContent),
            `Layer ${layer}, head ${head}`,
        );
        const drawn = await page.run(() => [...document.querySelectorAll('#card canvas')].length);
        assert.equal(drawn, 2, 'spectrum and path');
    },

    async 'a cell of the heatmap shows its heads'(page) {
        const label = await page.run(() =>
            document.querySelector('[data-place="6 2"]').getAttribute('aria-label'),
        );
        await page.press('[data-place="6 2"]');
        await settled(page);
        assert.match(await status(page), /^LC1-4K: /);
        assert.equal(await counted(page), Number(label.match(/(\d+) heads/)[1]));
        const layers = (await column(page, 1)).map((cell) => Number(cell.match(/L(\d+)/)[1]));
        assert.ok(
            layers.every((l) => l >= 8 && l <= 10),
            `layers of the third tenth of 36: ${layers}`,
        );
        await page.key('ArrowRight');
        await page.key('Enter');
        await settled(page);
        assert.equal(
            await page.run(() => document.activeElement.dataset.place),
            '6 3',
            'arrow keys move',
        );
        assert.equal(
            await page.run(() => [...window.qkscope.state.bins].join()),
            '3',
            'Enter presses',
        );
        await page.key('Enter');
        await settled(page);
        assert.equal(await counted(page), 300, 'pressed again, all are back');
        await page.run(() => window.qkscope.state.goTo(0));
        await settled(page);
    },

    async 'the legend hides a class'(page) {
        const before = await counted(page);
        await page.press('#legend button:last-of-type');
        await settled(page);
        assert.ok((await counted(page)) < before);
        assert.ok(!(await column(page, 3)).includes('mixed'));
        await clear(page);
    },

    async 'colours by layer, RoPE and phase'(page) {
        const seen = new Set();
        for (const name of await page.run(() =>
            [...document.getElementById('colour').options].map((o) => o.value),
        )) {
            await page.run((value) => {
                document.getElementById('colour').value = value;
                document.getElementById('colour').dispatchEvent(new Event('change'));
            }, name);
            await settled(page);
            seen.add(name);
        }
        for (const name of ['class', 'layer', 'rope', 'group']) assert.ok(seen.has(name), name);
        await page.run(() => {
            document.getElementById('colour').value = 'class';
            document.getElementById('colour').dispatchEvent(new Event('change'));
        });
        await settled(page);
        const hollow = await page.run(
            () =>
                window.qkscope.chart
                    .getOption()
                    .series.find((s) => s.id === 'heads')
                    .data.filter((d) => d.itemStyle.borderWidth > 0).length,
        );
        assert.ok(hollow > 30 && hollow < 150, `${hollow} heads without RoPE are hollow`);
    },

    async 'the table sorts'(page) {
        const r_k = (await headers(page)).findIndex((text) => text === 'r_k');
        await page.press('#head-table [data-column="r_k"]');
        const falling = numbers(await column(page, r_k));
        assert.deepEqual(
            falling,
            [...falling].sort((a, b) => b - a),
        );
        await page.key('Enter'); // the name keeps the focus
        const rising = numbers(await column(page, r_k));
        assert.deepEqual(
            rising,
            [...rising].sort((a, b) => a - b),
        );
        assert.ok(rising[0] < falling[0]);
        assert.equal(
            await page.run(() =>
                document.querySelector('#head-table [aria-sort]').getAttribute('aria-sort'),
            ),
            'ascending',
        );
        await page.press('#head-table [data-column="r_k"]');
    },

    async 'the search finds names, places and numbers'(page) {
        await page.run(() => document.getElementById('search').focus());
        await page.type('r_k<0 layer>=20');
        await settled(page);
        const expected = await page.run(() => {
            const { data } = window.qkscope;
            return data.headsOf[0].filter(
                (h) => data.pc('r_k', h, 0) < 0 && data.heads.layer[h] >= 20,
            ).length;
        });
        assert.ok(expected > 0);
        assert.equal(await counted(page), expected);
        await page.key('Escape');
        await settled(page);
        assert.equal(
            await page.run(() => document.getElementById('search').value),
            '',
            'Escape clears',
        );
        assert.equal(await counted(page), 300);
        await page.type('nope mixed');
        await settled(page);
        const found = await counted(page);
        assert.ok(found > 0 && found < 300);
        assert.ok((await column(page, 3)).every((cell) => cell === 'mixed'));
    },

    async 'the download holds what is listed'(page) {
        const listed = await counted(page);
        await page.press('#download');
        const path = join(folder, 'heads.csv');
        for (const end = Date.now() + 5000; !existsSync(path) && Date.now() < end;)
            await new Promise((done) => setTimeout(done, 50));
        const lines = readFileSync(path, 'utf8').trimEnd().split('\r\n');
        assert.equal(lines.length, listed + 1);
        assert.match(
            lines[0],
            /^model,phase,layer,head,k_head,class,pc,r_q,r_k,explained_variance,rope,/,
        );
        assert.ok(
            lines
                .slice(1)
                .every((line) => line.startsWith('S1-40K,stage 1,') && line.includes(',mixed,0,')),
        );
        await clear(page);
    },

    async 'the scatter can be walked with the keyboard'(page) {
        await page.run(() => {
            window.qkscope.state.set({ head: window.qkscope.data.headsOf[0][150] });
            document.getElementById('scatter').focus();
        });
        await settled(page);
        const r_q = () =>
            page.run(() => window.qkscope.data.pc('r_q', window.qkscope.state.head, 0));
        const before = await r_q();
        await page.key('ArrowLeft');
        await settled(page);
        assert.ok((await r_q()) < before);
        assert.match(
            await page.run(() => document.getElementById('spoken').textContent),
            /^L\d+ H\d+, r_q /,
        );
        await page.key('Enter');
        await settled(page);
        assert.equal(await counted(page), 1);
        await page.key('Escape');
        await settled(page);
        assert.equal(await counted(page), 300);
    },

    async 'every control is reached with Tab'(page) {
        await page.run(() => document.querySelector('.skip').focus());
        const reached = new Set();
        for (let i = 0; i < 90; i++) {
            await page.key('Tab');
            reached.add(
                await page.run(
                    () =>
                        document.activeElement.id ||
                        document.activeElement.dataset?.place ||
                        document.activeElement.dataset?.column ||
                        '',
                ),
            );
        }
        for (const id of [
            'theme',
            'colour',
            'pc',
            'brush-rect',
            'trails',
            'scatter',
            'play',
            'slider',
            'all',
            'quantity',
            'search',
            'download',
            'r_k',
        ])
            assert.ok(reached.has(id), `${id} is not in the tab order`);
        assert.ok(
            [...reached].some((place) => /^\d+ \d+$/.test(place)),
            'a cell of the heatmap',
        );
    },

    async 'all findings can be searched'(page) {
        const before = await page.run(
            () => document.querySelector('#finding-table .pager span').textContent,
        );
        await page.run(() => document.getElementById('find').focus());
        await page.type('change_mean_r_q LC1-4K');
        const rows = await page.run(() =>
            [...document.querySelectorAll('#finding-table tbody tr')].map((row) => row.textContent),
        );
        assert.notEqual(
            await page.run(() => document.querySelector('#finding-table .pager span').textContent),
            before,
        );
        assert.ok(
            rows.length > 0 &&
                rows.every((text) => text.includes('change_mean_r_q') && text.includes('LC1-4K')),
        );
        await page.run(() => {
            document.getElementById('find').value = 'trend_mean_r_q';
            document.getElementById('find').dispatchEvent(new Event('input'));
        });
        assert.equal(
            await page.run(() => document.querySelectorAll('#finding-table tbody tr').length),
            1,
        );
    },

    async 'figures are images with their takeaway'(page) {
        const figure = await page.run(async () => {
            const image = document.querySelector('#figure-list img');
            image.scrollIntoView({ behavior: 'instant' });
            await image.decode();
            return {
                width: image.naturalWidth,
                title: document.querySelector('figcaption h3').textContent,
                takeaway: document.querySelector('figcaption li').textContent,
            };
        });
        assert.ok(figure.width > 0);
        assert.equal(figure.title, 'Figure 7: position signal');
        assert.equal(
            figure.takeaway,
            'mean r_q rises from 0.67 to 0.81: *not italics*, <b>not bold</b>.',
        );
        await page.press('#figure-list .paper');
        assert.ok(await page.run(() => document.getElementById('zoom').open));
        await page.key('Escape');
        await page.until(() => !document.getElementById('zoom').open);
    },

    async 'the theme follows the system and the button'(page) {
        const background = () => page.run(() => getComputedStyle(document.body).backgroundColor);
        const light = await background();
        await page.send('Emulation.setEmulatedMedia', {
            features: [{ name: 'prefers-color-scheme', value: 'dark' }],
        });
        await page.until(() => document.documentElement.dataset.theme === 'dark');
        assert.notEqual(await background(), light);
        await page.press('#theme'); // from auto to light
        assert.equal(await background(), light);
        await page.press('#theme');
        await page.press('#theme'); // and on to auto: the browser remembers
        assert.notEqual(await background(), light);
    },

    // The test before has left the screen dark; paper is light, and has nothing to press.
    async 'it prints'(page) {
        await page.run(() => {
            addEventListener('beforeprint', () => {
                window.themeOnPaper = document.documentElement.dataset.theme;
            });
        });
        const pdf = await page.pdf();
        assert.ok(pdf.length > 50000);
        assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
        assert.equal(await page.run(() => window.themeOnPaper), 'light');
        assert.equal(await page.run(() => document.documentElement.dataset.theme), 'dark');
        await page.send('Emulation.setEmulatedMedia', { media: 'print' });
        const shown = await page.run(() => ({
            background: getComputedStyle(document.body).backgroundColor,
            buttons: [...document.querySelectorAll('.player button, .bar, #download')].filter(
                (element) => element.offsetParent !== null,
            ).length,
            parts: ['findings', 'scatter', 'card', 'head-table', 'figure-list', 'models'].filter(
                (id) => document.getElementById(id).offsetHeight > 40,
            ),
        }));
        await page.send('Emulation.setEmulatedMedia', { media: '' });
        assert.equal(shown.background, 'rgb(255, 255, 255)');
        assert.equal(shown.buttons, 0);
        assert.equal(shown.parts.length, 6, `on paper: ${shown.parts}`);
    },
};

// Whatever names and texts say, they are only text.
async function hostileNames() {
    const page = await open(hostile, { downloads: folder });
    const seen = await page.run(() => ({
        names: window.qkscope.data.models.name,
        title: document.getElementById('title').textContent,
        images: document.querySelectorAll('main img').length,
        figures: document.querySelectorAll('#figure-list img').length,
        scripts: document.scripts.length,
        strange: document.querySelectorAll(
            'main script, main iframe, main object, main a[href^="javascript"], [onerror], [onload]',
        ).length,
        owned: window.owned,
    }));
    assert.ok(seen.names.includes('</script><img src=x onerror="window.owned=1">'));
    assert.ok(seen.names.includes('it\'s "quoted",\n=2+2 `x` {b|y} \u2028 end'));
    assert.equal(seen.title, '<!--<script>window.owned=2</script>');
    assert.equal(seen.images, seen.figures, 'only figures are images');
    assert.equal(seen.scripts, 2, 'data and script');
    assert.equal(seen.strange, 0);
    for (let m = 0; m < seen.names.length; m++) {
        await page.run((i) => window.qkscope.state.goTo(i), m);
        await settled(page);
    }
    await page.run(() => new Promise((done) => setTimeout(done, 1000))); // until the heads have arrived
    const [p] = await points(page);
    for (const by of [3, 0])
        await page.mouse('mouseMoved', p.x + by, p.y, { button: 'none', buttons: 0 }); // its tooltip has the name
    await page.until(() => document.querySelector('.tip-model') !== null);
    await page.run(() => {
        document.getElementById('find').value = 'owned';
        document.getElementById('find').dispatchEvent(new Event('input'));
    });
    assert.equal(await page.run(() => window.owned), undefined);
    const csv = await page.run(async () => {
        let blob = null;
        const original = URL.createObjectURL;
        URL.createObjectURL = (b) => {
            blob = b;
            return original.call(URL, b);
        };
        window.qkscope.state.goTo(1);
        await new Promise((done) => setTimeout(done, 100));
        document.getElementById('download').click();
        return blob.text();
    });
    assert.ok(csv.includes('"it\'s ""quoted"",\n=2+2'), 'quoted in the CSV');
    assert.match(csv, /,'=family,/, 'a formula is defused');
    assert.deepEqual(page.faults, []);
    await page.close();
}

// One model, with standard errors, drift plane and plasticity; on a narrow dark screen.
async function oneModel() {
    const page = await open(one, { width: 400, height: 800, dark: true });
    assert.equal(
        await page.run(() => document.documentElement.scrollWidth),
        400,
        'nothing sticks out',
    );
    assert.equal(await page.run(() => document.documentElement.dataset.theme), 'dark');
    const card = await page.run(() => document.getElementById('card').innerText);
    for (const part of [
        'Drift plane',
        'bias strength',
        'Attention plasticity',
        'diagonal oriented',
        '±',
    ])
        assert.ok(card.includes(part), part);
    const errors = await page.run(() => window.qkscope.data.has('se_r_q'));
    assert.ok(errors);
    assert.deepEqual(page.faults, []);
    await page.close();
}

// ---- running them ----

let failed = 0;
async function attempt(name, test) {
    try {
        const began = Date.now();
        await test();
        console.log(`ok      ${name} (${Date.now() - began} ms)`);
    } catch (fault) {
        failed += 1;
        console.log(`FAILED  ${name}\n${fault.stack}`);
    }
}

try {
    const page = await open(run, { downloads: folder });
    for (const [name, test] of Object.entries(tests)) await attempt(name, () => test(page));
    await attempt('nothing was complained of, nothing was loaded', () =>
        assert.deepEqual(page.faults, []),
    );
    await page.close();
    await attempt('hostile names stay text', hostileNames);
    await attempt('one model, narrow and dark', oneModel);
} finally {
    await browser.close();
}
process.exitCode = failed ? 1 : 0;
