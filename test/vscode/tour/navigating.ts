// From a name to the object that has it, in this file or another; and what another file says of a workload.
import { caretBehind, hoverAtCaret, lens, open, presses, type Step, sees } from './stage.ts';

export const navigating: readonly Step[] = [
  {
    feature: 'Definitions',
    shows: 'F12 on the queue name of a Job opens the queue',
    picture: 'definition',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'team/job.yaml');
      await caretBehind(stage, 'team/job.yaml', 'queue-name: gpus', 2);
      await presses(page, 'F12', page.locator('.tab.active[data-resource-name="queues.yaml"]').first());
      await sees(page, '.statusbar-item', 'Ln 5, Col 9');
    },
  },
  {
    feature: 'Definitions',
    shows: 'F12 on an alias goes to its anchor',
    picture: 'definition-anchor',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'finetune-spot.yaml');
      await caretBehind(stage, 'finetune-spot.yaml', 'spec: *pod', 1);
      await presses(page, 'F12', page.locator('.statusbar-item', { hasText: /Ln 13, / }));
    },
  },
  {
    feature: 'References',
    shows: 'Shift+F12 on the name of a queue lists the objects that use it',
    picture: 'references',
    async run(stage) {
      const { page } = stage;
      await open(stage, 'team/cluster.yaml');
      await caretBehind(stage, 'team/cluster.yaml', 'name: all', 1);
      await presses(page, 'Shift+F12', page.locator('.reference-zone-widget').first());
      await sees(page, '.reference-zone-widget .monaco-list-row', 'queues.yaml');
    },
  },
  {
    feature: 'Scalers',
    shows: 'a scaler in another file sets the price range of a workload',
    picture: 'scaled-elsewhere',
    async run(stage) {
      await open(stage, 'team/chat.yaml');
      await sees(stage.page, lens, /0–4 × L4 · \$0–\$[\d.]+\/h/);
    },
  },
  {
    feature: 'Scalers',
    shows: 'the hover of a bound shows its cost, and the time to scale to zero and back',
    picture: 'scaler-bound',
    async run(stage) {
      await open(stage, 'team/scaler.yaml');
      await caretBehind(stage, 'team/scaler.yaml', 'minReplicaCount: 0 # at night', 12);
      await hoverAtCaret(stage.page, /0 replicas of voice[\s\S]*600 s without an active trigger \(cooldownPeriod\)/);
    },
  },
];
