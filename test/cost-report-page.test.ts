// The page of the cost report as its readers use it: in a browser and in an editor, by keyboard, with their colors, without scripts.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium } from '../scripts/vscode/machine.mjs';

const executablePath = findChromium();
const isSkipped = executablePath === undefined && process.env.GPULINT_REQUIRE_VSCODE !== '1';

const golden = readFileSync(path.join(import.meta.dirname, 'fixtures/cost-report/shop.html'), 'utf8');

/** The colors of VS Code's themes that the page uses. */
const darkModern = {
  'editor-background': '#1f1f1f',
  foreground: '#cccccc',
  descriptionForeground: '#9d9d9d',
  'panel-border': '#2b2b2b',
  'textLink-foreground': '#4daafc',
  'input-background': '#313131',
  'input-foreground': '#cccccc',
};
const lightModern = {
  'editor-background': '#ffffff',
  foreground: '#3b3b3b',
  descriptionForeground: '#3b3b3b',
  'panel-border': '#e5e5e5',
  'textLink-foreground': '#005fb8',
  'input-background': '#ffffff',
  'input-foreground': '#3b3b3b',
};
const highContrast = {
  'editor-background': '#000000',
  foreground: '#ffffff',
  descriptionForeground: 'rgba(255, 255, 255, 0.7)',
  contrastBorder: '#6fc3df',
  'textLink-foreground': '#21a6ff',
  'input-background': '#000000',
  'input-foreground': '#ffffff',
};

describe.skipIf(isSkipped)(`the cost report${isSkipped ? ' (skipped: Chromium is not installed)' : ''}`, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gpulint-page-'));
  const file = path.join(folder, 'shop.html');
  let browser: Browser;
  beforeAll(async () => {
    writeFileSync(file, golden.replaceAll('…', 'c0ffee'));
    browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens the page; everything that the browser complains about is a problem. */
  async function open(options: BrowserContextOptions = {}, editor?: Editor) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('dialog', (dialog) => {
      problems.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    if (editor !== undefined) await page.addInitScript(pretendEditor, editor);
    await page.goto(pathToFileURL(file).href);
    return { page, problems, close: () => context.close() };
  }

  test.each<[string, BrowserContextOptions, Editor?]>([
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['more contrast', { colorScheme: 'dark', contrast: 'more' }],
    ['forced colors', { forcedColors: 'active' }],
    ['a narrow window', { viewport: { width: 320, height: 600 } }],
    ['an editor with a dark theme', { colorScheme: 'light' }, { body: 'vscode-dark', colors: darkModern }],
    ['an editor with a light theme', { colorScheme: 'dark' }, { body: 'vscode-light', colors: lightModern }],
    ['an editor with high contrast', {}, { body: 'vscode-high-contrast', colors: highContrast }],
  ])('has no problem of accessibility: %s', async (_, options, editor) => {
    const { page, problems, close } = await open(options, editor);
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await close();
  });

  test('the check of accessibility finds problems', async () => {
    const { page, close } = await open();
    await page.evaluate(() => document.querySelector('th')?.append(document.createElement('button')));
    expect(await violations(page)).toEqual([expect.stringContaining('button-name')]);
    await close();
  });

  test('is complete without scripts', async () => {
    const { page, close } = await open({ javaScriptEnabled: false });
    expect(await page.locator('tbody tr').count()).toBe(5);
    expect(await page.locator('button:visible, input:visible').count()).toBe(0);
    expect(await page.locator('tfoot').innerText()).toContain('$16.16–$29.92');
    await close();
  });

  test('sorts by keyboard, unknown values last', async () => {
    const { page, close } = await open();
    await page.keyboard.press('Tab');
    const reach = async (text: string) => {
      for (let steps = 0; steps < 40 && (await focused(page)) !== text; steps++) await page.keyboard.press('Tab');
      expect(await focused(page)).toBe(text);
    };
    expect(await names(page)).toEqual(['chat', 'tune', 'rank', '<script>alert(1)</script>', 'embed']);
    await reach('Workload');
    await page.keyboard.press('Enter');
    expect(await names(page)).toEqual(['<script>alert(1)</script>', 'embed', 'rank', 'chat', 'tune']);
    expect(await page.locator('[aria-sort]').evaluateAll((all) => all.map((one) => one.ariaSort))).toEqual([
      'ascending',
    ]);
    await page.keyboard.press('Space');
    expect(await names(page)).toEqual(['tune', 'chat', 'rank', 'embed', '<script>alert(1)</script>']);
    await reach('Idle $/h');
    await page.keyboard.press('Enter');
    expect((await names(page)).slice(0, 3)).toEqual(['chat', 'rank', '<script>alert(1)</script>']);
    await page.keyboard.press('Enter');
    expect((await names(page)).slice(0, 3)).toEqual(['<script>alert(1)</script>', 'rank', 'chat']);
    await close();
  });

  test('filters by words, and adds up what is left', async () => {
    const { page, close } = await open();
    await page.getByLabel('Filter').fill('h100 AWS');
    expect(await names(page)).toEqual(['chat', 'tune']);
    expect(await page.locator('output').innerText()).toBe('2 of 5');
    const sums = () => page.locator('tfoot').innerText();
    expect((await sums()).split(/\s+/)).toEqual(['Total', 'shown', '2–4', '$13.76–$27.52', '$6.88', '$5,022–$15,067']);
    await page.getByLabel('Filter').fill('');
    expect((await sums()).split(/\s+/)).toEqual(['Total', '6–8', '$16.16–$29.92', '$9.28', '$6,774–$16,819']);
    await close();
  });

  test('tells the editor by number what the user selects, and keeps the state of the table there', async () => {
    const { page, close } = await open({}, { body: 'vscode-dark', colors: darkModern, state: { filter: 'search L4' } });
    expect(await names(page)).toEqual(['rank']);
    await page.getByRole('link', { name: 'shop/serving/rank.yaml:1' }).click();
    await page.getByRole('button', { name: 'Set minReplicas to 0 (now 1)…' }).press('Enter');
    await page.getByRole('button', { name: 'Export as CSV' }).press('Space');
    await page.getByRole('button', { name: 'Refresh' }).click();
    expect(await page.evaluate('messages')).toEqual([
      { place: 3 },
      { fix: 0 },
      { action: 'csv' },
      { action: 'refresh' },
    ]);
    await page.getByLabel('Filter').fill('chat');
    expect(await page.evaluate('state.filter')).toBe('chat');
    expect(new URL(page.url()).pathname).toMatch(/shop\.html$/);
    await close();
  });
});

async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const results = (await page.evaluate('axe.run()')) as AxeResults;
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** The names of the visible rows, without their kinds. */
function names(page: Page): Promise<readonly string[]> {
  const shown = page.locator('tbody tr:visible th > bdi:first-child');
  return shown.evaluateAll((all) => all.map((one) => one.textContent?.replace(/^\w+\//, '') ?? ''));
}

function focused(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.activeElement?.textContent?.trim());
}

interface Editor {
  readonly body: string;
  readonly colors: Readonly<Record<string, string>>;
  readonly state?: object;
}

/** What VS Code adds to a webview: the colors of its theme, a class of the body, and a way to send messages. */
function pretendEditor({ body, colors, state }: Editor): void {
  const messages: unknown[] = [];
  Object.assign(window, {
    messages,
    state,
    acquireVsCodeApi: () => ({
      getState: () => state,
      setState: (now: unknown) => Object.assign(window, { state: now }),
      postMessage: (message: unknown) => messages.push(message),
    }),
  });
  document.addEventListener('readystatechange', () => {
    document.body.classList.add(body);
    for (const [name, color] of Object.entries(colors))
      document.documentElement.style.setProperty(`--vscode-${name}`, color);
  });
}
