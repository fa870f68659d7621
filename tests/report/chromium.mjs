// chromium.mjs: drives a headless Chromium for the tests: one process, one profile that is thrown
// away, commands over a pipe (--remote-debugging-pipe: no port, no network, no package needed).
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FLAGS = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-breakpad',
    '--disable-extensions',
    '--disable-dev-shm-usage',
    '--hide-scrollbars',
    '--no-default-browser-check',
    '--remote-debugging-pipe',
];
const PATIENCE = 20000; // ms for one command

export class Chromium {
    #waiting = new Map();
    #listeners = [];
    #last = 0;
    #rest = '';

    static start(program) {
        const browser = new Chromium();
        browser.profile = mkdtempSync(join(tmpdir(), 'qkscope-chromium-'));
        browser.process = spawn(program, [...FLAGS, `--user-data-dir=${browser.profile}`], {
            stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
            // What Chromium keeps outside its profile goes with the profile, too.
            env: { ...process.env, XDG_CONFIG_HOME: browser.profile, XDG_CACHE_HOME: browser.profile },
        });
        browser.said = '';
        browser.process.stderr.on('data', (bytes) => {
            browser.said = (browser.said + bytes).slice(-4000);
        });
        browser.ended = new Promise((done) => {
            browser.process.on('error', (fault) => {
                browser.said += fault.message;
                done();
            });
            browser.process.on('exit', done);
        });
        browser.process.stdio[3].on('error', () => {}); // the commands in flight say what went wrong
        browser.process.stdio[4].setEncoding('utf8').on('data', (text) => browser.#hear(text));
        return browser;
    }

    #hear(text) {
        const messages = (this.#rest + text).split('\0');
        this.#rest = messages.pop();
        for (const message of messages.map((m) => JSON.parse(m))) {
            const waiting = this.#waiting.get(message.id);
            this.#waiting.delete(message.id);
            if (waiting && message.error)
                waiting.fail(new Error(`${waiting.method}: ${message.error.message}`));
            else if (waiting) waiting.done(message.result);
            else for (const listener of this.#listeners) listener(message);
        }
    }

    onEvent(listener) {
        this.#listeners.push(listener);
    }

    async send(method, params = {}, sessionId = undefined) {
        const id = ++this.#last;
        let timer = null;
        const answer = new Promise((done, fail) => {
            this.#waiting.set(id, { method, done, fail });
            timer = setTimeout(() => fail(new Error(`${method}: no answer`)), PATIENCE);
            this.ended.then(() => fail(new Error(`Chromium ended: ${this.said}`)));
        });
        this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
        try {
            return await answer;
        } finally {
            clearTimeout(timer);
        }
    }

    async page(options) {
        const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
        const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
        const page = new Page(this, sessionId, targetId);
        await page.prepare(options);
        return page;
    }

    async close() {
        await this.send('Browser.close').catch(() => {});
        const slow = setTimeout(() => this.process.kill('SIGKILL'), 3000);
        await this.ended;
        clearTimeout(slow);
        rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
    }
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const KEYS = {
    Enter: 13,
    Escape: 27,
    ' ': 32,
    ArrowLeft: 37,
    ArrowUp: 38,
    ArrowRight: 39,
    ArrowDown: 40,
    Tab: 9,
};

class Page {
    constructor(browser, session, target) {
        this.send = (method, params) => browser.send(method, params, session);
        this.target = target;
        this.browser = browser;
        this.faults = []; // console errors, exceptions, dialogs, requests that leave the page
        this.loaded = null;
        browser.onEvent((event) => {
            if (event.sessionId === session) this.#hear(event);
        });
    }

    #hear({ method, params }) {
        if (method === 'Page.loadEventFired') this.loaded?.();
        if (method === 'Runtime.exceptionThrown')
            this.faults.push(
                params.exceptionDetails.exception?.description ?? params.exceptionDetails.text,
            );
        if (
            method === 'Runtime.consoleAPICalled' &&
            ['error', 'warning', 'assert'].includes(params.type)
        )
            this.faults.push(
                `console.${params.type}: ${params.args.map((a) => a.value ?? a.description).join(' ')}`,
            );
        if (
            method === 'Log.entryAdded' &&
            params.entry.level !== 'info' &&
            params.entry.level !== 'verbose'
        )
            this.faults.push(`${params.entry.text} ${params.entry.url ?? ''}`);
        if (method === 'Page.javascriptDialogOpening') {
            this.faults.push(`a dialog: ${params.message}`);
            this.send('Page.handleJavaScriptDialog', { accept: false });
        }
        if (
            method === 'Network.requestWillBeSent' &&
            !/^(file|data|blob|about):/.test(params.request.url)
        )
            this.faults.push(`a request: ${params.request.url}`);
    }

    async prepare({ width = 1400, height = 900, dark = false, downloads = null, scale = 1 } = {}) {
        for (const domain of ['Page', 'Runtime', 'Log', 'Network'])
            await this.send(`${domain}.enable`);
        await this.send('Emulation.setDeviceMetricsOverride', {
            width,
            height,
            deviceScaleFactor: scale,
            mobile: false,
        });
        await this.send('Emulation.setEmulatedMedia', {
            features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }],
        });
        if (downloads)
            await this.browser.send('Browser.setDownloadBehavior', {
                behavior: 'allow',
                downloadPath: downloads,
            });
    }

    async open(url) {
        const loaded = new Promise((done) => {
            this.loaded = done;
        });
        const { errorText } = await this.send('Page.navigate', { url });
        if (errorText) throw new Error(`${url}: ${errorText}`);
        await loaded;
    }

    // The value of a function that runs in the page; it gets the arguments as JSON.
    async run(code, ...values) {
        const expression = `(${code})(${values.map((v) => JSON.stringify(v)).join(', ')})`;
        const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
            expression,
            awaitPromise: true,
            returnByValue: true,
        });
        if (exceptionDetails)
            throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    }

    // Until a function in the page gives something true.
    async until(code, ...values) {
        for (const end = Date.now() + 5000; Date.now() < end; await pause(25)) {
            const value = await this.run(code, ...values);
            if (value) return value;
        }
        throw new Error(`never came true: ${code}`);
    }

    mouse(type, x, y, more = {}) {
        return this.send('Input.dispatchMouseEvent', {
            type,
            x,
            y,
            button: 'left',
            buttons: type === 'mouseReleased' ? 0 : 1,
            clickCount: 1,
            ...more,
        });
    }

    async click(x, y, more) {
        await this.mouse('mouseMoved', x, y, { button: 'none', buttons: 0 });
        await this.mouse('mousePressed', x, y, more);
        await this.mouse('mouseReleased', x, y, more);
    }

    // Press an element in its middle.
    async press(selector, more) {
        const [x, y] = await this.run((s) => {
            const element = document.querySelector(s);
            if (!element) throw new Error(`there is no ${s}`);
            element.scrollIntoView({ block: 'center', behavior: 'instant' });
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }, selector);
        await this.click(x, y, more);
    }

    async drag(points, more) {
        const [[x, y], ...rest] = points;
        await this.mouse('mouseMoved', x, y, { button: 'none', buttons: 0 });
        await this.mouse('mousePressed', x, y, more);
        for (const [u, v] of rest) await this.mouse('mouseMoved', u, v, more);
        await this.mouse('mouseReleased', ...points.at(-1), more);
    }

    async key(key, modifiers = 0) {
        const event = {
            key,
            code: key === ' ' ? 'Space' : key,
            windowsVirtualKeyCode: KEYS[key],
            modifiers,
        };
        const text = { Enter: '\r', ' ': ' ' }[key];
        await this.send('Input.dispatchKeyEvent', {
            type: text ? 'keyDown' : 'rawKeyDown',
            text,
            ...event,
        });
        await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    }

    type(text) {
        return this.send('Input.insertText', { text });
    }

    async screenshot(options = {}) {
        const { data } = await this.send('Page.captureScreenshot', { format: 'png', ...options });
        return Buffer.from(data, 'base64');
    }

    async pdf() {
        const { data } = await this.send('Page.printToPDF', {
            printBackground: true,
            paperWidth: 8.27,
            paperHeight: 11.69,
        });
        return Buffer.from(data, 'base64');
    }

    close() {
        return this.browser.send('Target.closeTarget', { targetId: this.target });
    }
}
