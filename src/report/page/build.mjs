// build.mjs: makes the page without its data: node build.mjs NODE_MODULES OUT
// Bundles main.js and style.css, puts them into index.html with the licences of what was bundled,
// and lets only this script run on the page (by its hash, in the content security policy).
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [modules, out] = process.argv.slice(2).map((path) => resolve(path));
const esbuild = createRequire(join(modules, 'esbuild', 'package.json'))('esbuild');
const DATA_MARK = 'QKSCOPE-DATA'; // src/report/template.c looks for it

const LICENCES = [
    ['echarts', ['LICENSE', 'NOTICE', 'licenses/LICENSE-d3']],
    ['zrender', ['LICENSE']],
    ['tslib', ['LICENSE.txt']],
];

function bundle(entry, options) {
    const result = esbuild.buildSync({
        entryPoints: [join(here, entry)],
        bundle: true,
        minify: true,
        write: false,
        charset: 'ascii',
        legalComments: 'none', // the licences are on the page in full
        nodePaths: [modules],
        target: ['chrome100', 'firefox100', 'safari15'],
        logLevel: 'warning',
        ...options,
    });
    return result.outputFiles[0].text.trim();
}

function escaped(text) {
    return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function licences() {
    return LICENCES.map(([name, files]) => {
        const { version } = JSON.parse(readFileSync(join(modules, name, 'package.json')));
        const text = files.map((file) => readFileSync(join(modules, name, file), 'utf8').trim());
        return `<h4>${escaped(`${name} ${version}`)}</h4><pre>${escaped(text.join('\n\n'))}</pre>`;
    }).join('\n');
}

// Each mark must be there exactly once: a page that lost a part is no page.
function put(page, mark, content) {
    const parts = page.split(mark);
    if (parts.length !== 2) throw new Error(`index.html has ${parts.length - 1} of ${mark}`);
    return parts.join(content);
}

const script = bundle('main.js', {
    format: 'iife',
    define: { 'process.env.NODE_ENV': '"production"' },
});
const style = bundle('style.css', { loader: { '.css': 'css' } });
if (/<\/script/i.test(script) || /<\/style/i.test(style)) throw new Error('a part would end early');
const hash = createHash('sha256').update(script).digest('base64');

let page = readFileSync(join(here, 'index.html'), 'utf8');
page = put(page, 'QKSCOPE-SCRIPT-HASH', `sha256-${hash}`);
page = put(page, 'QKSCOPE-STYLE', style);
page = put(page, 'QKSCOPE-SCRIPT', script);
page = put(page, 'QKSCOPE-LICENCES', licences());
if (page.split(DATA_MARK).length !== 2) throw new Error(`${DATA_MARK} is not there once`);
writeFileSync(out, page);
