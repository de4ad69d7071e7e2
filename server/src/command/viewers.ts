import { wordSet } from '../catalog/word-patterns.ts';
import { baseName } from './shell.ts';

/** Web pages with the course of a training. */
const viewers = wordSet('tensorboard visdom aim optuna-dashboard');

/** Whether a command serves the results of a training, or the files of a directory, to a browser: `tensorboard --logdir out`, `mlflow ui`. */
export function isViewer(words: readonly string[]): boolean {
  const [program = '', option = '', module = ''] = words;
  const name = baseName(program);
  if (viewers.has(name)) return true;
  if (name === 'mlflow') return option === 'ui' || option === 'server';
  return /^python[\d.]*$/.test(name) && option === '-m' && (module === 'http.server' || /^tensorboard\b/.test(module));
}
