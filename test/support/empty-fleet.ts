import type { FitAnswer } from '../../server/src/fleet/fit-question.ts';

// Parts of a view and of an answer that say nothing; tests set what they are about.

export const noMoney = { hourly: null, idle: null, unpricedNodes: 0, basis: [], because: [] };

export const emptyAnswer: FitAnswer = {
  context: 'test',
  asOf: 1,
  outcome: 'unknown',
  fitting: 0,
  pods: 0,
  running: 0,
  waiting: 0,
  line: '',
  wayOut: null,
  groups: [],
  growth: [],
  preempted: [],
  quotas: [],
  gaps: [],
  usage: null,
};
