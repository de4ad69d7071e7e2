import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { getIn } from '../../server/src/yaml/cursor.ts';
import { type ContainerSite, containerSites, isWhole } from './sites.ts';
import { add, append, drop, type Mistake, type Planters, put } from './steps.ts';

export const planters: Planters = {
  'command-fails': asksForConsent,
  'line-continuation': brokenLine,
  'token-in-plain-text': writtenToken,
  'work-in-background': background,
};

// Scripts whose lines or programs do not belong together, and tokens next to them.

function sites(analysis: DocumentAnalysis): readonly ContainerSite[] {
  return containerSites(analysis).filter(
    ({ workload, container, listed, resource, path }) =>
      ['Job', 'Pod', 'Deployment'].includes(workload.kind) &&
      isWhole(workload) &&
      listed &&
      container.type === 'app' &&
      resource === 'nvidia.com/gpu' &&
      path.length > 0 &&
      [...container.command, ...container.args].every(({ at: place }) => !place.shared),
  );
}

function withScript({ path, root }: ContainerSite, name: string, script: string, word: string): Mistake {
  const args = getIn(root, ...path, 'args') === undefined ? [] : [drop([...path, 'args'])];
  const place = { path: [...path, 'command', 2], part: 'value', word } as const;
  return { name, steps: [...args, ...put(path, 'command', ['bash', '-c', script])], place };
}

function brokenLine(analysis: DocumentAnalysis): readonly Mistake[] {
  const scripts = ['./novels --words 9\n  --chapters 3', './novels --words 9 \\\n  # short\n  --chapters 3\n'];
  return sites(analysis).flatMap((site) =>
    scripts.map((script, index) => withScript(site, `script ${index}`, script, '--chapters')),
  );
}

function background(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis).flatMap((site) =>
    ['./novels --words 9 &', 'nohup ./novels --words 9 > /tmp/out 2>&1 &\necho started'].map((script) =>
      withScript(site, script, script, script.startsWith('nohup') ? 'nohup' : './novels'),
    ),
  );
}

function asksForConsent(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis).flatMap((site) =>
    ['apt-get install git', 'conda install novels'].map((install) =>
      withScript(site, install, `${install} && ./novels --words 9`, install),
    ),
  );
}

function writtenToken(analysis: DocumentAnalysis): readonly Mistake[] {
  return sites(analysis).map(({ root, path }) => {
    const env = getIn(root, ...path, 'env');
    const one = { name: 'LAB_HUB', value: 'hf_QmZkTrWvBnLxYcHdJsFgPaKeUoIiQwE' };
    const start = env?.node.kind === 'seq' ? env.node.items.length : 0;
    return {
      name: 'token',
      steps: [env === undefined ? add(path, 'env', [one]) : append([...path, 'env'], one)],
      place: { path: [...path, 'env', start, 'value'], part: 'value' },
    };
  });
}
