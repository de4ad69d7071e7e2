// A folder in a Git repository: lenses and a command compare the cost with the last commit.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { runCommand } from '../../../scripts/vscode/launch.mjs';
import { lens, open, pickerRow, type Step, sees } from './stage.ts';

const isvc = 'serving/llama-isvc.yaml';

/** Commits the workspace, and then changes one manifest. */
export function makeRepository(workspace: string): string {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: workspace, stdio: 'ignore' });
  git('init', '--initial-branch=main');
  git('add', '--all');
  git('-c', 'user.name=Test', '-c', 'user.email=test@example.com', 'commit', '--message=Start');
  const file = path.join(workspace, isvc);
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, text.replace('maxReplicas: 3', 'maxReplicas: 5'));
  return workspace;
}

export const repository: readonly Step[] = [
  {
    feature: 'Change of the cost',
    shows: 'the lens of a changed workload shows the difference from the last commit',
    picture: 'change-lens',
    async run(stage) {
      const { page, shot } = stage;
      await open(stage, isvc);
      await sees(page, lens, /1–5 × H100.* · up to \+\$13\.76\/h against HEAD/);
      await shot();
    },
  },
  {
    feature: 'Change of the cost',
    shows: 'a command lists the changed workloads of the workspace, with the total',
    picture: 'change-list',
    async run(stage) {
      const { page, shot } = stage;
      await runCommand(page, 'gpulint: Compare GPU Cost with the Last Commit');
      await sees(page, '.quick-input-title', /GPU cost against HEAD: up to \+\$13\.76\/h/);
      const row = await sees(page, pickerRow, /chat\/InferenceService\/llama/);
      await shot();
      await row.click();
      await page.locator('.tab.active[data-resource-name="llama-isvc.yaml"]').waitFor();
    },
  },
];
