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

/** Settings that make a workbench predictable. */
export const testSettings = Object.freeze({
  ...quietSettings,
  'files.autoSave': 'off',
  'git.enabled': false,
  'editor.hover.delay': 100,
  'editor.cursorBlinking': 'solid',
  'window.commandCenter': false,
  'workbench.reduceMotion': 'on',
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
  if (!executablePath) throw new Error('no Chromium was found');
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
 * Opens a file of the workspace the way a user does: quick open, its name, a click on its row.
 * @param {Page} page
 * @param {string} name With folders where others have the same name.
 */
export async function openFile(page, name) {
  const [base = name, folder] = name.split('/').reverse();
  const exactly = new RegExp(`^${base.replaceAll('.', '\\.')}$`);
  const row = page
    .locator('.quick-input-list .monaco-list-row')
    .filter({ has: page.locator('.label-name', { hasText: exactly }) })
    .filter(folder ? { has: page.locator('.label-description', { hasText: new RegExp(`${folder}$`) }) } : {})
    .first();
  const tab = page.locator(`.tab.active[data-resource-name="${base}"]`).first();
  await page.keyboard.press('Control+P');
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  await input.fill(name);
  // The list is first of files opened before, whose names may hold this one, and is made anew when the search is through.
  await row.click();
  await tab.waitFor();
}

/**
 * Runs a command by its title from the command palette.
 * @param {Page} page
 * @param {string} title
 */
export async function runCommand(page, title) {
  await page.keyboard.press('F1');
  const input = page.locator('.quick-input-widget input').first();
  await input.waitFor();
  await input.fill(`>${title}`);
  await page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().click();
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
    if (Date.now() > deadline) throw new Error(`waited ${milliseconds / 1000} s in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
