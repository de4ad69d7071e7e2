// Runs a tour: one workbench, step after step, each with a picture. A step that fails does not keep the others from being run.
import fs from 'node:fs';
import path from 'node:path';
import {
  fixedPrices,
  launchWorkbench,
  takeRetries,
  testSettings,
  triedAgain,
} from '../../../scripts/vscode/launch.mjs';
import { notifications, type Stage, type Step, tidy } from './stage.ts';

export interface Tour {
  readonly title: string;
  /** User settings in addition to those of all tests. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Arguments of the server; left out: every folder is trusted. */
  readonly args?: readonly string[];
  /** Changes the copy of the workspace before it is opened, and gives the path to open. */
  readonly prepare?: (workspace: string) => string;
  /** Starts what the window needs beside it, before it opens: its environment, and how to end it. */
  readonly start?: (workspace: string) => Promise<Surroundings>;
  /** Another extension to install: a folder of test/vscode/extensions. */
  readonly otherExtension?: string;
  readonly steps: readonly Step[];
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

export interface TourSetting {
  /** The extensions, packaged. */
  readonly vsix: readonly string[];
  /** Of the extension host. */
  readonly env?: Readonly<Record<string, string>>;
  /** A folder to write to, with a copy of examples/ and of the tour's own files. */
  readonly workspace: string;
  /** Where the pictures go. */
  readonly pictures: string;
  /** Where those of the documentation go; undefined to leave them. */
  readonly images: string | undefined;
  readonly grep: string | undefined;
  readonly say: (line: string) => void;
}

/** What became of the steps. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** The steps that failed, by their names, each with its error. */
  readonly failures: readonly string[];
  /** The steps in which something was tried again, by their names, with what it was. */
  readonly retried: ReadonlyMap<string, readonly string[]>;
}

export async function runTour(
  tour: Tour,
  { vsix, env, workspace, pictures, images, grep, say }: TourSetting,
): Promise<Outcome> {
  const steps = tour.steps.filter((step) => !grep || new RegExp(grep).test(nameOf(tour, step)));
  if (steps.length === 0) return { passed: 0, failed: 0, failures: [], retried: new Map() };
  fs.mkdirSync(pictures, { recursive: true });
  const opened = tour.prepare?.(workspace) ?? workspace;
  const started = await tour.start?.(workspace);
  const workbench = await launchWorkbench({
    vsix,
    env: { ...fixedPrices, ...env, ...started?.env },
    settings: { ...testSettings, ...tourSettings, ...tour.settings },
    args: tour.args ?? ['--disable-workspace-trust'],
  });
  const { page } = workbench;
  const failures: string[] = [];
  const retried = new Map<string, readonly string[]>();
  try {
    await workbench.open(opened);
    await page.locator('.explorer-viewlet .monaco-list-row').first().waitFor({ timeout: 90_000 });
    for (const step of steps) {
      let taken = false;
      const shot = async () => {
        taken = true;
        // A hover fades in.
        const picture = path.join(pictures, `${step.picture}.png`);
        await page.screenshot({ path: picture, animations: 'disabled' });
        if (images !== undefined && step.image !== undefined)
          fs.copyFileSync(picture, path.join(images, `${step.image}.png`));
      };
      const stage: Stage = { page, workspace, shot };
      takeRetries();
      try {
        await step.run(stage);
        if (!taken) await shot();
        const again = takeRetries();
        if (again.length > 0) retried.set(nameOf(tour, step), again);
        say(`  ✓ ${step.feature}: ${step.shows}${triedAgain(again)}`);
      } catch (error) {
        const failure = error instanceof Error ? error.stack : String(error);
        failures.push(`${nameOf(tour, step)}\n${failure}`);
        const picture = path.join(pictures, `failed-${step.picture}.png`);
        await page.screenshot({ path: picture }).catch(() => undefined);
        say(`  ✗ ${step.feature}: ${step.shows} (${picture})\n${failure}`);
        for (const text of await notifications(page).catch(() => [])) say(`    VS Code notification: ${text}`);
      }
      await tidy(page).catch((error: unknown) => say(`    not tidied: ${error}`));
    }
  } finally {
    await workbench.stop();
    await started?.stop();
  }
  return { passed: steps.length - failures.length, failed: failures.length, failures, retried };
}

/** The name by which a step is chosen. */
export function nameOf(tour: Tour, step: Step): string {
  return `${tour.title}: ${step.feature}: ${step.shows}`;
}

const tourSettings = {
  'workbench.colorTheme': 'Default Dark Modern',
  'editor.fontSize': 14,
  'editor.minimap.enabled': false,
  'editor.occurrencesHighlight': 'off',
  'workbench.layoutControl.enabled': false,
  // The panels of the other tours show what is open.
  'gpulint.closedFiles.maxFiles': 0,
};
