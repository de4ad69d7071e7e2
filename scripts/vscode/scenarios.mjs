// @ts-check
// The part of `npm run test:vscode` that drives a workbench in a browser: the story of one mistake, the tours of the
// features, the web worker host. dist-test/ must be bundled.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { installPeer } from '../../bench/peer.mjs';
import { labPaths, PlainError, root } from './lab.mjs';

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */
/**
 * @typedef {{ passed: number, failed: number, skipped?: number, failures?: readonly string[],
 *   retried?: ReadonlyMap<string, readonly string[]> }} Outcome
 */

/** Where each run leaves what it saw. */
const pictures = path.join(root, 'dist-test/pictures');

/**
 * @param {object} options
 * @param {string} options.temp A folder to write to.
 * @param {string | undefined} options.grep
 * @param {boolean} options.images Writes the pictures of the README.
 * @param {boolean} options.skip Counts them only: the desktop build cannot be driven.
 * @param {Map<string, number>} options.retried In how many rounds each step of a tour needed a second try; is added to.
 * @param {string[]} options.failures What failed, with its error; is added to.
 * @returns {Promise<Counts>}
 */
export async function runScenarios({ temp, grep, images, skip, retried, failures }) {
  /** @type {typeof import('../../test/vscode/scenario.ts')} */
  const { runScenario, scenarioTitle } = await import(bundled('scenario'));
  /** @type {typeof import('../../test/vscode/browser-scenario.ts')} */
  const { runBrowserScenario, browserTitle } = await import(bundled('browser-scenario'));
  /** @type {typeof import('../../test/vscode/tour/index.ts')} */
  const { tours, runTour, nameOf } = await import(bundled('tour/index'));
  const wanted = (/** @type {string} */ title) => !grep || new RegExp(grep).test(title);
  const say = (/** @type {string} */ line) => console.log(`  ${line}`);
  const one = (/** @type {(workspace: string) => Promise<void>} */ run) => async (/** @type {string} */ workspace) => {
    try {
      await run(workspace);
      return { passed: 1, failed: 0 };
    } catch (error) {
      const failure = error instanceof Error ? `${error.message}\n${error.cause ?? error.stack}` : String(error);
      console.error(`  ✗ ${failure}`);
      return { passed: 0, failed: 1, failures: [failure] };
    }
  };
  const look = images ? { scale: 2, viewport: { width: 1180, height: 760 } } : {};
  const documented = images ? path.join(root, 'docs/images') : undefined;
  const all = [
    {
      title: scenarioTitle,
      chosen: wanted(scenarioTitle),
      run: one((workspace) =>
        runScenario({ vsix: packageExtension(temp), workspace, images: documented ?? pictures, ...look, say }),
      ),
    },
    {
      title: browserTitle,
      chosen: wanted(browserTitle),
      run: one((workspace) => runBrowserScenario({ root, workspace, images: pictures, say })),
    },
    ...tours.map((tour) => ({
      title: tour.title,
      chosen: tour.steps.some((step) => wanted(nameOf(tour, step))),
      run: async (/** @type {string} */ workspace) => {
        const vsix = [
          packageExtension(temp),
          ...(tour.otherExtension ? [await packageTestExtension(tour.otherExtension, temp)] : []),
        ];
        const prepared = environmentOf(tour.otherExtension, workspace);
        if ('env' in prepared)
          return runTour(tour, { vsix, env: prepared.env, workspace, pictures, images: documented, grep, say });
        say(`skipped: ${prepared.reason}`);
        return { passed: 0, failed: 0, skipped: tour.steps.length };
      },
    })),
  ].filter(({ chosen }) => chosen);
  const counts = { passed: 0, failed: 0, skipped: 0 };
  if (all.length > 0 && skip) {
    console.log('Skipped the tours with mouse and keyboard: they require the browser stand-in (Linux with Chromium).');
    return { ...counts, skipped: all.length };
  }
  for (const { title, run } of all) {
    console.log(`\n  ${title}`);
    /** @type {Outcome} */
    const {
      passed,
      failed,
      skipped = 0,
      failures: found = [],
      retried: again = new Map(),
    } = await run(
      copyWorkspace(fs.mkdtempSync(path.join(temp, 'scenario-')), images && title === scenarioTitle ? [] : tourFiles),
    );
    for (const step of again.keys()) retried.set(step, (retried.get(step) ?? 0) + 1);
    failures.push(...found);
    counts.passed += passed;
    counts.failed += failed;
    counts.skipped += skipped;
  }
  return counts;
}

const tourFiles = ['test/vscode/tour/files'];

/**
 * Copies examples/, and also the files of the tours, which the pictures of the README do not show.
 * @param {string} folder
 * @param {readonly string[]} more
 */
export function copyWorkspace(folder, more = tourFiles) {
  const copy = path.join(folder, 'examples');
  for (const from of ['examples', ...more]) {
    fs.cpSync(path.join(root, from), copy, { recursive: true });
  }
  return copy;
}

/** @param {string} name */
function bundled(name) {
  return pathToFileURL(path.join(root, 'dist-test', `${name}.mjs`)).href;
}

/**
 * The environment variables of the other extension.
 * @param {string | undefined} otherExtension
 * @param {string} workspace
 * @returns {{ env: Record<string, string> } | { reason: string }}
 */
function environmentOf(otherExtension, workspace) {
  if (otherExtension === 'memfs') return { env: { GPULINT_MEMFS_SOURCE: workspace } };
  if (otherExtension !== 'red-hat-yaml') return { env: {} };
  const peer = installPeer(labPaths().node);
  return 'command' in peer ? { env: { GPULINT_YAML_SERVER: JSON.stringify([...peer.command]) } } : peer;
}

/** @param {string} temp */
function packageExtension(temp) {
  const vsix = path.join(temp, 'gpulint.vsix');
  if (!fs.existsSync(vsix)) vsce(root, vsix, []);
  return vsix;
}

/**
 * @param {string} name A folder of test/vscode/extensions.
 * @param {string} temp
 */
async function packageTestExtension(name, temp) {
  const vsix = path.join(temp, `${name}.vsix`);
  if (fs.existsSync(vsix)) return vsix;
  const from = path.join(root, 'test/vscode/extensions', name);
  const folder = path.join(temp, name);
  await esbuild.build({
    entryPoints: [path.join(from, 'extension.ts')],
    outfile: path.join(folder, 'extension.js'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['vscode'],
    logLevel: 'warning',
  });
  fs.copyFileSync(path.join(from, 'package.json'), path.join(folder, 'package.json'));
  vsce(folder, vsix, ['--allow-missing-repository', '--skip-license']);
  return vsix;
}

/**
 * @param {string} folder
 * @param {string} vsix
 * @param {readonly string[]} more
 */
function vsce(folder, vsix, more) {
  const program = path.join(root, 'node_modules/@vscode/vsce/vsce');
  const args = [program, 'package', '--no-dependencies', '--out', vsix, ...more];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new PlainError(`Cannot package the extension in ${folder}: ${stderr}${stdout}`);
}
