import { asking } from './asking.ts';
import { startClusters } from './cluster-surroundings.ts';
import { clusterUsage } from './cluster-usage.ts';
import { clusters, clustersIn, clustersRestricted } from './clusters.ts';
import { commanding } from './commands.ts';
import { costReport } from './cost-report.ts';
import { costing } from './costs.ts';
import { fixing } from './fixing.ts';
import { hovering } from './hovers.ts';
import { keyboard } from './keyboard.ts';
import { navigating } from './navigating.ts';
import { projects } from './projects.ts';
import { quiet } from './quiet.ts';
import { reading } from './reading.ts';
import { makeRepository, repository } from './repository.ts';
import type { Tour } from './run.ts';
import { themeSteps } from './themes.ts';
import { restricted, writeStrangersSettings } from './trust.ts';
import { makeVirtual, virtual } from './virtual.ts';
import { withKubernetesTools } from './with-kubernetes-tools.ts';
import { withRedHatYaml } from './with-red-hat-yaml.ts';
import { writing } from './writing.ts';

export { nameOf, runTour } from './run.ts';

/** Every tour of the features, each in a window of its own. */
export const tours: readonly Tour[] = [
  {
    title: 'a tour of the features',
    steps: [
      ...reading,
      ...hovering,
      ...fixing,
      ...writing,
      ...projects,
      ...navigating,
      ...quiet,
      ...commanding,
      ...costReport,
      ...keyboard,
    ],
  },
  { title: 'costs of a workspace', settings: { 'gpulint.closedFiles.maxFiles': 5000 }, steps: costing },
  {
    title: 'a Git repository',
    settings: { 'git.enabled': true },
    prepare: makeRepository,
    steps: repository,
  },
  {
    title: 'an untrusted folder',
    args: [],
    prepare: writeStrangersSettings,
    start: startClusters,
    steps: [...restricted, ...clustersRestricted],
  },
  { title: 'a question', settings: { 'gpulint.askForGpu.enabled': true }, steps: asking },
  { title: 'a cluster', start: startClusters, steps: [...clusters, ...clusterUsage] },
  { title: 'with Red Hat YAML', otherExtension: 'red-hat-yaml', steps: withRedHatYaml },
  {
    title: 'with the Kubernetes extension',
    otherExtension: 'kubernetes-tools',
    start: startClusters,
    steps: withKubernetesTools,
  },
  { title: 'a virtual workspace', otherExtension: 'memfs', prepare: makeVirtual, steps: virtual },
  {
    title: 'light',
    settings: { 'workbench.colorTheme': 'Default Light Modern' },
    start: startClusters,
    steps: [...themeSteps('light', 'vs'), ...clustersIn('light')],
  },
  {
    title: 'high contrast',
    settings: { 'workbench.colorTheme': 'Default High Contrast' },
    start: startClusters,
    steps: [...themeSteps('high contrast', 'hc-black'), ...clustersIn('high contrast')],
  },
  {
    title: 'high contrast light',
    settings: { 'workbench.colorTheme': 'Default High Contrast Light' },
    start: startClusters,
    steps: [...themeSteps('high contrast light', 'hc-light'), ...clustersIn('high contrast light')],
  },
];
