// The GPU Clusters view: what a cluster has, in each state of the connection, and what can be done with it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import type { FrameLocator, Page } from 'playwright-core';
import { askAgain, comes, runCommand, until } from '../../../scripts/vscode/launch.mjs';
import { prod, trace } from './cluster-surroundings.ts';
import { violations } from './cost-report.ts';
import {
  caretBehind,
  inputOf,
  lens,
  open,
  pickerRow,
  plain,
  type Step,
  sees,
  seesNo,
  shownText,
  showsText,
} from './stage.ts';

const view = '.pane:has([aria-label*="GPU Clusters"])';
export const row = `${view} .monaco-list-row`;
export const message = `${view} .message`;
const welcome = `${view} .welcome-view`;

async function showView(page: Page): Promise<void> {
  // A click on the icon of a view that is open would close it.
  if (!(await page.locator(view).isVisible()))
    await page.locator('.activitybar [aria-label^="GPU Clusters"]').first().click();
  await page.locator(view).waitFor();
}

export async function connect(page: Page, context: string): Promise<void> {
  await showView(page);
  await runCommand(page, 'gpulint: Connect to a Cluster…');
  await (await sees(page, pickerRow, new RegExp(`^${context}`))).click();
}

/** The view with the figures of the sample. */
export async function connected(page: Page): Promise<void> {
  await showView(page);
  const pool = page.locator(row, { hasText: /^h100/ }).first();
  if (!(await comes(pool, 500))) await connect(page, 'prod');
  await sees(page, row, /^h100/);
}

export async function expand(page: Page, text: RegExp): Promise<void> {
  const found = await sees(page, row, text);
  await askAgain(String(text), async (wait) => {
    if ((await found.getAttribute('aria-expanded')) === 'true') return true;
    await found.click();
    await page.keyboard.press('ArrowRight');
    await page.waitForTimeout(Math.min(wait, 500));
    return (await found.getAttribute('aria-expanded')) === 'true';
  });
}

export const clusters: readonly Step[] = [
  {
    feature: 'GPU Clusters',
    shows: 'without a connection, the view says what it would show, and nothing is read',
    picture: 'clusters-off',
    async run({ page }) {
      await showView(page);
      await sees(page, welcome, /gpulint only reads, and only after you connect/);
      assert.deepEqual(prod.requests, []);
    },
  },
  {
    feature: 'GPU Clusters',
    shows: 'the contexts of the kubeconfig are offered, the current one first',
    picture: 'clusters-contexts',
    async run({ page, shot }) {
      await showView(page);
      await (await sees(page, `${welcome} .monaco-button`, 'Connect to a Cluster')).click();
      const first = await sees(page, pickerRow, /prod/);
      assert.match(plain(await first.innerText()), /current/);
      // A name is never an icon.
      await sees(page, pickerRow, /^\$\(flame\) eu/);
      await shot();
      assert.deepEqual(prod.requests, []);
    },
  },
  {
    feature: 'GPU Clusters',
    shows: 'the view counts what is being listed',
    picture: 'clusters-loading',
    async run({ page, shot }) {
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      prod.hold = ({ url }) => (url?.startsWith('/api/v1/pods') ? held : undefined);
      try {
        await connect(page, 'prod');
        await sees(page, message, /Listing: 8 nodes, 0 pods/);
        await shot();
      } finally {
        prod.hold = undefined;
        release();
      }
      await sees(page, row, /^h100/);
    },
  },
  {
    feature: 'GPU Clusters',
    shows: 'totals, pools with usage bars and idle cost, nodes, and pods with owner, namespace and age',
    picture: 'clusters-tree',
    async run({ page, shot }) {
      await connected(page);
      await sees(page, message, /^prod: \d+ GPUs, \d+ free · (≥ )?\$[\d.,–$]+\/h · (≥ )?\$[\d.,–$]+\/h idle/);
      await sees(page, row, /h100.*6\/24 free ▰+▱+/);
      await expand(page, /^h100/);
      await expand(page, /^gke-h100-3/);
      await sees(page, row, /llama-predictor-7d9f-x2x8c.*1 GPU.*chat.*InferenceService\/llama.*2 d/);
      const spoken = await page.locator(row, { hasText: /^h100/ }).first().getAttribute('aria-label');
      assert.match(spoken ?? '', /^h100, 6 of 24 free/);
      await shot();
    },
  },
  {
    feature: 'GPU Clusters',
    shows: 'pods that wait are listed with the reason, a way out and the scheduler message',
    picture: 'clusters-pending',
    async run({ page, shot }) {
      await connected(page);
      await page.locator('.sidebar [aria-label^="Collapse All"]').first().click();
      await expand(page, /^Pending/);
      await expand(page, /^Job\/finetune/);
      await sees(page, row, /Insufficient nvidia\.com\/gpu/);
      await shot();
    },
  },
  {
    feature: 'GPU Clusters',
    shows: 'the problems of nodes without a running driver are listed',
    picture: 'clusters-problems',
    async run({ page, shot }) {
      await connected(page);
      await expand(page, /^Problems/);
      await sees(page, row, /gke-l4-3.*driver or device plugin/);
      await shot();
    },
  },
  {
    feature: 'GPU Clusters',
    shows: 'the tree is used by keyboard: opened, filtered, sorted and copied',
    picture: 'clusters-filtered',
    async run({ page, shot }) {
      await connected(page);
      await runCommand(page, 'gpulint: Filter GPU Clusters…');
      const input = await inputOf(page, 'Filter GPU clusters');
      await input.fill('chat llama');
      await input.press('Enter');
      await sees(page, row, /^llama-predictor/);
      await seesNo(page, row, /^a100/);
      await shot();
      await runCommand(page, 'gpulint: Clear the GPU Clusters Filter');
      await sees(page, row, /^a100/);
      await runCommand(page, 'gpulint: Sort GPU Node Pools By…');
      await (await sees(page, pickerRow, 'Name')).click();
      await until('the first pool by name', async () =>
        (await page.locator(row).allInnerTexts()).some((text) => /^a100/.test(plain(text))),
      );
    },
  },
  {
    feature: 'GPU Clusters',
    shows: 'the manifest of a pod’s owner is opened, and its lens leads back to the pods',
    picture: 'clusters-manifest',
    async run({ page, shot }) {
      await connected(page);
      await expand(page, /^Workloads/);
      const owner = await sees(page, row, /^llama(?!-).*InferenceService/);
      await owner.hover();
      await owner.locator('[aria-label*="Open Workload Manifest"]').first().click();
      await page.locator('.tab.active[data-resource-name="llama-isvc.yaml"]').waitFor();
      await (await sees(page, `${lens} a`, /^\d+ pods in prod$/)).click();
      await sees(page, `${row}.selected`, /^llama(?!-).*InferenceService/);
      await sees(page, row, /^llama-predictor-7d9f-kq4wz/);
      await shot();
    },
  },
  {
    feature: 'Use this pool',
    shows: 'the workload at the cursor selects the pool, and the lens says that it fits there',
    picture: 'clusters-use-pool',
    async run(stage) {
      const { page, shot } = stage;
      await connected(page);
      await open(stage, 'waiting.yaml');
      await caretBehind(stage, 'waiting.yaml', 'nvidia.com/gpu: 4');
      await sees(page, lens, /4 × /);
      const pool = await sees(page, row, /^a100/);
      await pool.hover();
      await pool.locator('[aria-label*="Use Pool"]').first().click();
      await showsText(page, /nodeSelector:\n *cloud\.google\.com\/gke-nodepool: a100/);
      await sees(page, lens, /fits now in pool a100 \(14 free\)/);
      await shot();
    },
  },
  {
    feature: 'Use this pool',
    shows: 'the taints of a pool are shown as tolerations',
    picture: 'clusters-tolerations',
    async run({ page, shot }) {
      await connected(page);
      await runCommand(page, 'gpulint: Show Pool Taints as Tolerations');
      await (await sees(page, pickerRow, /^l4-spot/)).click();
      await showsText(page, /key: nvidia\.com\/gpu\n *operator: Equal\n *value: present\n *effect: NoSchedule/);
      assert.match(await shownText(page), /gke-nodepool: l4-spot/);
      await shot();
    },
  },
  {
    feature: 'GPU cluster dashboard',
    shows: 'a page has totals, charts, pending pods and pools, without accessibility problems',
    picture: 'clusters-dashboard',
    image: 'gpu-clusters',
    async run({ page, shot }) {
      await connected(page);
      const dashboard = await openDashboard(page);
      assert.equal(await dashboard.locator('figure').count(), 5);
      await expand(page, /^Pending/);
      await expand(page, /^h100/);
      await dashboard.locator('tbody tr', { hasText: 'finetune' }).first().waitFor();
      await shot();
      assert.deepEqual(await violations(page), []);
      const names = dashboard.locator('[data-table="pools"] tbody th > bdi:first-child');
      await dashboard.getByRole('button', { name: 'Pool', exact: true }).press('Enter');
      assert.deepEqual(await names.allInnerTexts(), ['a100', 'h100', 'l4-spot']);
    },
  },
  {
    feature: 'GPU Clusters',
    shows: 'the view follows a pod that ends',
    picture: 'clusters-followed',
    async run({ page }) {
      await connected(page);
      prod.remove('/api/v1/pods', 'notebook-ada-0', 'research');
      await sees(page, row, /a100.*16\/16 free ▱+/);
    },
  },
  {
    feature: 'GPU Clusters',
    shows: 'after the connection is lost, the last figures are shown with their time',
    picture: 'clusters-stale',
    async run({ page, shot }) {
      await connected(page);
      prod.fault = ({ socket }) => {
        socket.destroy();
        return true;
      };
      prod.drop();
      try {
        await sees(page, message, /prod: .*As of \d/);
        await sees(page, row, /^h100/);
        await shot();
      } finally {
        prod.fault = undefined;
      }
    },
  },
  {
    feature: 'GPU Clusters',
    shows: 'names that look like icons are shown as text: in the list, the view, the lens and messages',
    picture: 'clusters-icon-names',
    async run(stage) {
      const { page, shot } = stage;
      await connect(page, '\\$\\(flame\\) eu');
      await sees(page, message, /^\$\(flame\) eu: \d+ GPUs/);
      await open(stage, 'llama-isvc.yaml');
      await sees(page, `${lens} a`, /^\d+ pods in \$\(flame\) eu$/);
      await shot();
    },
  },
  state('expired', 'expired credentials', /rejects the credentials; log in again/),
  state('limited', 'no rights', /may not list nodes: bind the ClusterRole in docs\/cluster\.md/),
  state('gone', 'an unreachable server', /refuses connections/),
  {
    feature: 'GPU Clusters',
    shows: 'after disconnecting, the view is as before',
    picture: 'clusters-disconnected',
    async run({ page }) {
      await showView(page);
      await runCommand(page, 'gpulint: Disconnect from the Cluster');
      await sees(page, welcome, /only after you connect/);
      await page.keyboard.press('Control+Shift+E');
    },
  },
];

function state(context: string, what: string, said: RegExp): Step {
  return {
    feature: 'GPU Clusters',
    shows: `${what}: the view says so, and what to do`,
    picture: `clusters-${context}`,
    async run({ page }) {
      await connect(page, context);
      await sees(page, message, said);
      await sees(page, row, /^Connect again/);
    },
  };
}

export async function openDashboard(page: Page): Promise<FrameLocator> {
  await runCommand(page, 'gpulint: GPU Cluster Dashboard');
  const dashboard = page.frameLocator('iframe.webview >> visible=true').frameLocator('iframe#active-frame');
  await dashboard.locator('h1', { hasText: 'GPU cluster prod' }).waitFor({ timeout: 90_000 });
  return dashboard;
}

/** The view and the page in one theme. */
export function clustersIn(theme: string): readonly Step[] {
  return [
    {
      feature: 'Themes',
      shows: `the GPU Clusters view and its dashboard in the ${theme} theme`,
      picture: `theme-${theme.replaceAll(' ', '-')}-clusters`,
      async run({ page, shot }) {
        await connected(page);
        await openDashboard(page);
        await expand(page, /^Pending/);
        await shot();
        assert.deepEqual(await violations(page), []);
        await runCommand(page, 'gpulint: Disconnect from the Cluster');
      },
    },
  ];
}

/** An untrusted folder. */
export const clustersRestricted: readonly Step[] = [
  {
    feature: 'Restricted Mode',
    shows: 'the GPU Clusters view reads no kubeconfig and starts no program',
    picture: 'restricted-clusters',
    async run({ page, shot }) {
      await showView(page);
      await sees(page, welcome, /does not connect to clusters in Restricted Mode/);
      await runCommand(page, 'gpulint: Connect to a Cluster…');
      await sees(page, '.notification-list-item', /Restricted Mode/);
      await shot();
      assert.deepEqual(prod.requests, []);
      assert.equal(fs.existsSync(trace), false);
      await page.keyboard.press('Control+Shift+E');
    },
  },
  {
    feature: 'Restricted Mode',
    shows: 'once the workspace is trusted, the view connects in the same session, and credential plugins run',
    picture: 'restricted-then-trusted',
    async run({ page, shot }) {
      await runCommand(page, 'Workspaces: Manage Workspace Trust');
      await (await sees(page, '.workspace-trust-editor .monaco-button', /^Trust$/)).click();
      await seesNo(page, '.statusbar-item', 'Restricted Mode');
      await page.locator('.monaco-modal-editor-block .codicon-close').first().click();
      assert.deepEqual(prod.requests, []);
      await connect(page, 'plugin');
      await sees(page, message, /credential plugin .*returned no credentials/);
      assert.equal(fs.existsSync(trace), true);
      await connect(page, 'prod');
      await sees(page, row, /^h100/);
      await shot();
    },
  },
];
