// @ts-check
// A workbench under test: the stand-in's server with an extension, and a headless Chromium that shows it.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { labPaths } from './lab.mjs';
import { findChromium } from './machine.mjs';
import { installExtension, onSignal, quietSettings, startServer, workbenchUrl, writeSettings } from './server.mjs';

/** @typedef {import('playwright-core').Page} Page */

/** Neither the day of a test nor what its user has fetched may change a price: on this day, none is old. */
export const fixedPrices = Object.freeze({ SOURCE_DATE_EPOCH: '1784592000', GPULINT_PRICES: 'none' });

/** Settings that make a workbench predictable. */
export const testSettings = Object.freeze({
  ...quietSettings,
  'files.autoSave': 'off',
  'git.enabled': false,
  'editor.hover.delay': 100,
  'editor.cursorBlinking': 'solid',
  'window.commandCenter': false,
  'workbench.reduceMotion': 'on',
  'gpulint.askForGpu.enabled': false,
});

/**
 * @typedef {object} Workbench
 * @property {Page} page
 * @property {import('./server.mjs').RunningServer} server
 * @property {(folder: string, payload?: readonly (readonly [string, string])[]) => Promise<void>} open
 * @property {() => Promise<void>} stop Ends browser and server, and removes their data.
 */

/**
 * Starts a server in a fresh data folder and a browser; shows nothing yet.
 * @param {{ vsix?: string | readonly string[], settings?: Record<string, unknown>, args?: readonly string[], env?: NodeJS.ProcessEnv,
 *   viewport?: { width: number, height: number }, scale?: number }} [options]
 * @returns {Promise<Workbench>}
 */
export async function launchWorkbench({ vsix, settings = testSettings, args, env, viewport, scale } = {}) {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('no Chromium found');
  const lab = labPaths();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gpulint-vscode-'));
  /** @type {(() => Promise<void>)[]} */
  const undo = [async () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 })];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step().catch(() => undefined);
  };
  try {
    const dataFolder = path.join(folder, 'server');
    writeSettings(dataFolder, settings);
    for (const one of vsix ? [vsix].flat() : []) installExtension(lab, dataFolder, one);
    const server = await startServer(lab, {
      dataFolder,
      ...(args ? { args } : {}),
      // Where the server puts its sockets; their paths must be short.
      env: { ...process.env, ...env, XDG_RUNTIME_DIR: folder },
    });
    undo.push(server.stop);
    const forget = onSignal(() => stop().finally(() => process.exit(130)));
    undo.push(async () => forget());
    const profile = path.join(folder, 'browser');
    const context = await chromium.launchPersistentContext(profile, {
      executablePath,
      headless: true,
      // Its own reaction would end this process and leave the server behind.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      viewport: viewport ?? { width: 1400, height: 900 },
      deviceScaleFactor: scale ?? 1,
      // Chromium would otherwise write to the user's own ~/.config.
      env: { ...process.env, XDG_CONFIG_HOME: profile },
      args: [
        ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-dev-shm-usage'],
        ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
        // Nothing but the server is there: what a test sees, it sees offline.
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      ],
    });
    undo.push(() => context.close());
    const page = context.pages()[0] ?? (await context.newPage());
    page.setDefaultTimeout(30_000);
    return {
      page,
      server,
      open: async (workspace, payload) => {
        await page.goto(workbenchUrl(server, { folder: workspace, ...(payload ? { payload } : {}) }));
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Opens a file of the workspace the way a user does: quick open, its name, down to its row, Enter. The mouse is left where it is, for
 * what it points at has hovers of its own.
 * @param {Page} page
 * @param {string} name With its folder where others have the same name.
 */
export async function openFile(page, name) {
  const [base = name, folder] = name.split('/').reverse();
  const row = page
    .locator('.quick-input-list .monaco-list-row.focused')
    .filter({ has: page.locator('.label-name', { hasText: exactly(base) }) })
    .filter(folder ? { has: page.locator('.label-description', { hasText: new RegExp(`${folder}$`) }) } : {});
  const tab = page.locator(`.tab.active[data-resource-name="${base}"]`).first();
  // The list is first of files opened before, whose names may hold this one, and is made anew when the search is through.
  await askAgain(`the editor of ${name}`, async (wait) => {
    const input = await quickInput(page, 'Control+P', name);
    for (let rows = 0; rows < 8 && !(await comes(row.first(), 1000)); rows++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    if (await comes(tab, wait)) return true;
    // A list that stays open keeps what it found, and a file made since then is not in it: the next try is a new search.
    await page.keyboard.press('Escape');
    await gone(input, wait);
    return false;
  });
}

/**
 * Runs a command by its whole title from the command palette, where those that were used before come first.
 * @param {Page} page
 * @param {string} title
 */
export async function runCommand(page, title) {
  const named = page.locator('.label-name', { hasText: exactly(title) });
  const row = page.locator('.quick-input-list .monaco-list-row').filter({ has: named }).first();
  await askAgain(`the command ${title}`, async (wait) => {
    const input = await quickInput(page, 'F1', `>${title}`);
    const answer = await row.click({ timeout: wait }).then(
      () => true,
      (error) => reason(error),
    );
    if (answer === true) return true;
    // A list that stays open lacks the commands that have become available since then.
    await page.keyboard.press('Escape');
    await gone(input, wait);
    return answer;
  });
}

/** @param {string} text */
function exactly(text) {
  return new RegExp(`^${text.replaceAll(/[.()]/g, '\\$&')}$`);
}

/**
 * Opens an input by its key, which VS Code drops where the focus is just going somewhere else, and fills it. An input that closes before is opened
 * again.
 * @param {Page} page
 * @param {string} key
 * @param {string} text
 */
export async function quickInput(page, key, text) {
  const input = page.locator('.quick-input-widget input').first();
  await askAgain(`the input of ${key}`, async (wait) => {
    await page.keyboard.press(key);
    if (!(await comes(input, wait))) return false;
    return input.fill(text, { timeout: wait }).then(
      () => true,
      () => false,
    );
  });
  return input;
}

/** @type {string[]} */
const retries = [];

/** What had to be asked for again since the last call, once per retry. @returns {readonly string[]} */
export function takeRetries() {
  return retries.splice(0);
}

/** The same in words for the line of a step; empty where nothing was tried again. */
export function triedAgain(again = takeRetries()) {
  return again.length === 0 ? '' : ` (tried again: ${again.join(', ')})`;
}

/**
 * Asks until the answer is there, and waits twice as long each time: what VS Code dropped has to be asked for again, and what a loaded
 * machine brings late must not be disturbed by the next question.
 * @param {string} what Named in the error.
 * @param {(wait: number) => Promise<boolean | string>} ask Gets how long this try may take, in milliseconds; a string says why it failed.
 */
export async function askAgain(what, ask) {
  let why = '';
  for (let wait = 4000; wait <= 64_000; wait *= 2) {
    const answer = await ask(wait);
    if (answer === true) return;
    if (answer !== false) why = `: ${answer}`;
    retries.push(what);
  }
  throw new Error(`several attempts failed: ${what}${why}`);
}

/** @param {unknown} error @returns {string} What Playwright waited for, or what was in the way. */
function reason(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Whether an element goes within so many milliseconds.
 * @param {import('playwright-core').Locator} element
 * @param {number} timeout
 * @returns {Promise<boolean>}
 */
export async function gone(element, timeout) {
  return element.waitFor({ state: 'hidden', timeout }).then(
    () => true,
    () => false,
  );
}

/**
 * Whether an element comes within so many milliseconds.
 * @param {import('playwright-core').Locator} element
 * @param {number} timeout
 * @returns {Promise<boolean>}
 */
export async function comes(element, timeout) {
  return element.waitFor({ timeout }).then(
    () => true,
    () => false,
  );
}

/**
 * Waits until a condition on the world outside the browser holds.
 * @template T
 * @param {string} what Named in the error.
 * @param {() => T | Promise<T>} probe
 * @param {number} [milliseconds]
 * @returns {Promise<NonNullable<T>>} The probe's first truthy value.
 */
export async function until(what, probe, milliseconds = 30_000) {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`timeout after ${milliseconds / 1000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
