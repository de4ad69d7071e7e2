// What a step of a tour works with: the workbench, and the ways in which a person looks at it and works it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { askAgain, comes, gone, openFile, quickInput, runCommand, until } from '../../../scripts/vscode/launch.mjs';

/** A workbench, and the folder that it shows. */
export interface Stage {
  readonly page: Page;
  readonly workspace: string;
  /** Takes the picture of a step, when its end would be too late. */
  readonly shot: () => Promise<void>;
}

/** One thing that a person can see or do. */
export interface Step {
  /** The feature's name in the table. */
  readonly feature: string;
  /** What is proved, as the end of a sentence; unique, for it names the test. */
  readonly shows: string;
  /** The picture's file name without its end. */
  readonly picture: string;
  /** The picture in docs/images that the same picture is. */
  readonly image?: string;
  run(stage: Stage): Promise<void>;
}

export const lens = '.codelens-decoration';
export const hoverBox = '.monaco-hover:visible';
export const menuRow = '.action-widget .monaco-list-row.action';
export const pickerRow = '.quick-input-list .monaco-list-row';
export const suggestRow = '.suggest-widget.visible .monaco-list-row';
export const problemRow = '.markers-panel-container .monaco-list-row';

/** Below the list of files there is nothing that would show a tip of its own. */
const nowhere = { x: 170, y: 790 };

/** How long a loaded machine may take, in milliseconds; no test measures it. */
const timeoutMs = 45_000;

/** Waits until an element with the text is seen; tells what is there instead when it never is. */
export async function sees(page: Page, selector: string, text: RegExp | string): Promise<Locator> {
  const found = page.locator(selector, { hasText: text }).first();
  try {
    await found.waitFor({ timeout: timeoutMs });
  } catch {
    const texts = await page.locator(selector).allInnerTexts();
    assert.fail(`no ${selector} with ${text}; there is ${JSON.stringify(texts.map(plain))}`);
  }
  return found;
}

/** Waits until no element with the text is left. */
export async function seesNo(page: Page, selector: string, text: RegExp | string): Promise<void> {
  const found = page.locator(selector, { hasText: text }).first();
  await found.waitFor({ state: 'detached', timeout: timeoutMs });
}

/** The editor's lines, without the ones scrolled out of sight. */
export async function shownText(page: Page): Promise<string> {
  const lines = page.locator('.editor-group-container.active .view-line');
  const placed = await lines.evaluateAll((all) =>
    all.map((line) => ({ top: Number.parseInt((line as HTMLElement).style.top, 10), text: line.textContent ?? '' })),
  );
  return placed
    .sort((a, b) => a.top - b.top)
    .map(({ text }) => plain(text))
    .join('\n');
}

/** Waits until the editor shows a text. */
export async function showsText(page: Page, wanted: RegExp): Promise<void> {
  let text = '';
  const shown = async () => {
    text = await shownText(page);
    return wanted.test(text);
  };
  await until(String(wanted), shown, timeoutMs).catch(() =>
    assert.fail(`the editor does not show ${wanted}, but\n${text}`),
  );
}

/** Opens a file by its name; where two have it, by the end of its path. */
export async function open({ page, workspace }: Stage, name: string): Promise<void> {
  const file = path.relative(workspace, find(workspace, name));
  await openFile(page, file.split(path.sep).slice(-2).join('/'));
  await page.locator('.editor-group-container.active .view-line').first().waitFor();
  // An editor opens where it was left.
  await page.keyboard.press('Control+Home');
}

/**
 * Puts the caret behind the first place of a text of the opened file, as it is on disk, by the keys of «Go to Line/Column».
 * @param nudge columns to go back, to stand within the text
 */
export async function caretBehind({ page, workspace }: Stage, name: string, text: string, nudge = 0): Promise<void> {
  const before = fs.readFileSync(find(workspace, name), 'utf8').split(text);
  assert.ok(before.length > 1, `${name} has no ${text}`);
  const lines = `${before[0]}${text}`.split('\n');
  await goTo(page, lines.length, (lines.at(-1) ?? '').length + 1 - nudge);
}

/** Puts the caret at a line and a column, which count from 1. */
export async function goTo(page: Page, line: number, column: number): Promise<void> {
  const input = await quickInput(page, 'Control+G', `:${line}:${column}`);
  await askAgain('the line', async (wait) => {
    if (await input.isVisible()) await page.keyboard.press('Enter');
    return gone(input, wait);
  });
  await sees(page, '.statusbar-item', new RegExp(`Ln ${line}, Col ${column}`));
  // What is typed before the focus is back would stand nowhere.
  await page.locator('.editor-group-container.active .monaco-editor.focused').first().waitFor();
}

/** The input with a title that a command opens: keys pressed before it is there go to whatever has the focus. */
export async function inputOf(page: Page, title: string): Promise<Locator> {
  await sees(page, '.quick-input-title', title);
  return page.locator('.quick-input-widget input').first();
}

/**
 * Opens the light bulb's menu at the caret, by its key or otherwise, and gives its row with the title. VS Code drops the menu where marks
 * or the focus change at that moment, and fills it without fixes of marks that are on their way, so a second try is due.
 */
export async function lightBulb(
  page: Page,
  title: RegExp | string,
  opens = () => page.keyboard.press('Control+.'),
): Promise<Locator> {
  const menu = page.locator(menuRow);
  const row = menu.filter({ hasText: title }).first();
  await askAgain('the light bulb', async (wait) => {
    await opens();
    if (await comes(row, wait)) return true;
    const others = (await menu.allInnerTexts()).map(plain);
    if (others.length > 0) await page.keyboard.press('Escape');
    return `no ${title} in ${JSON.stringify(others)}`;
  });
  return row;
}

/** Chooses from the light bulb's menu. */
export async function fix(page: Page, title: RegExp | string): Promise<void> {
  await (await lightBulb(page, title)).click();
}

/**
 * Opens the hover at the caret by its keys, which VS Code may drop, and gives it when it has the text. A hover that is there is never
 * requested again: what a person sees first must be right.
 */
export async function hoverAtCaret(page: Page, text: RegExp): Promise<Locator> {
  const any = page.locator(hoverBox, { hasText: /\S/ }).first();
  await askAgain('the hover', async (wait) => {
    await page.keyboard.press('Control+K');
    await page.keyboard.press('Control+I');
    return comes(any, wait);
  });
  return sees(page, hoverBox, text);
}

/** Waits for a row of the completion at the caret, which is asked for where it does not come by itself. */
export async function completion(page: Page, text: RegExp | string): Promise<Locator> {
  const row = page.locator(suggestRow, { hasText: text }).first();
  // VS Code drops a list that is asked for while keys are still on their way, and may then show one of words alone.
  await askAgain('the list', async (wait) => {
    if (await comes(row, 1000)) return true;
    if (await page.locator(suggestRow).first().isVisible()) await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Space');
    return comes(row, wait);
  }).catch(() => sees(page, suggestRow, text));
  return row;
}

/** Chooses a row of the completion; a list that closes while the hand is on its way is opened again. */
export async function choose(page: Page, text: RegExp | string): Promise<void> {
  await askAgain('the row', async (wait) => {
    const row = await completion(page, text);
    return row.click({ timeout: wait }).then(
      () => true,
      () => false,
    );
  });
}

/** Opens the Problems panel by its key, which would close it where it has the focus. */
export async function problems(page: Page): Promise<void> {
  const panel = page.locator('.markers-panel-container').first();
  await presses(page, 'Control+Shift+M', panel);
}

/** Presses a key until what it opens is there: VS Code drops keys while the focus goes somewhere else. */
export async function presses(page: Page, keys: string, opened: Locator): Promise<void> {
  await askAgain(keys, async (wait) => {
    if (await opened.isVisible()) return true;
    for (const key of keys.split(' ')) await page.keyboard.press(key);
    return comes(opened, wait);
  });
}

/** Closes the panel below the editors, which would take half of their height. */
export async function closePanel(page: Page): Promise<void> {
  await page.locator('.part.panel .codicon-panel-close, .part.panel .codicon-close').first().click();
  await page.locator('.part.panel').waitFor({ state: 'hidden' });
}

/** What VS Code has told in notifications, which are gone from sight after a while. */
export async function notifications(page: Page): Promise<readonly string[]> {
  await runCommand(page, 'Notifications: Show Notifications');
  const center = page.locator('.notifications-center');
  await center.waitFor();
  return (await center.locator('.notification-list-item').allInnerTexts()).map(plain);
}

/** Takes back what a step changed and closes what it opened. */
export async function tidy(page: Page): Promise<void> {
  const dirty = page.locator('.tab.dirty');
  const tabs = page.locator('.tab');
  for (let press = 0; press < 4; press++) await page.keyboard.press('Escape');
  while ((await dirty.count()) > 0) {
    const open = await tabs.count();
    await dirty.first().click();
    // One command, for a tab is clean again before the file is read: closed in between, it would open with the text that was to go.
    await runCommand(page, 'View: Revert and Close Editor');
    await tabs.nth(open - 1).waitFor({ state: 'detached' });
  }
  const tab = page.locator('.tab').first();
  await askAgain('the editors to close', async (wait) => {
    if (!(await tab.isVisible())) return true;
    // A page that comes late takes the keyboard for itself.
    await page.locator('.tab.active').first().click();
    await page.keyboard.press('Control+K');
    await page.keyboard.press('Control+W');
    return gone(tab, wait);
  });
  await page.mouse.move(nowhere.x, nowhere.y);
}

/** Text as it reads: editors and lists show blanks as no-break spaces. */
export function plain(text: string): string {
  return text.replaceAll('\u00a0', ' ');
}

function find(workspace: string, name: string): string {
  const files = fs.readdirSync(workspace, { recursive: true, encoding: 'utf8' }).sort();
  const found = files.find((file) => file === name) ?? files.find((file) => file.endsWith(`/${name}`));
  assert.ok(found, `there is no ${name}`);
  return path.join(workspace, found);
}
