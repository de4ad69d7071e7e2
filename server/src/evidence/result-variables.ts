import { wordSet } from '../catalog/word-patterns.ts';
import { nnUnetResults } from '../command/checkpoint.ts';
import { wordsOf } from '../command/name-words.ts';
import type { Container } from '../model/workload.ts';
import { isTemplated, type Located } from '../yaml/cursor.ts';

/** A variable that names the directory of the checkpoints: `CHECKPOINT_DIR=/ckpt`. */
export function checkpointVariable({ env }: Container): Located<string> | undefined {
  const found = env.find(({ name, value }) => {
    const words = wordsOf(name);
    // `CKPT_PATH` and `INIT_CHECKPOINT_DIR` often name what training starts from.
    const isPlace = words.some((one) => checkpointWords.has(one)) && words.some((one) => placeWords.has(one));
    const isOutput =
      isPlace && words.every((one) => checkpointWords.has(one) || placeWords.has(one) || outputs.has(one));
    return (isOutput || name === nnUnetResults) && isPath(value);
  });
  return found?.value;
}

const checkpointWords = wordSet('checkpoint checkpoints ckpt ckpts');
const placeWords = wordSet('dir directory folder root');
const outputs = wordSet('save output train training');

/** A variable for all that the program writes: `OUTPUT_DIR=/app/output`. */
export function outputVariable({ env }: Container): Located<string> | undefined {
  const found = env.find(({ name, value }) => {
    const words = wordsOf(name);
    const isResult = words.some((one) => saved.has(one)) && words.some((one) => places.has(one));
    return isResult && words.every((one) => saved.has(one) || places.has(one) || ofModel.has(one)) && isPath(value);
  });
  return found?.value;
}

const saved = wordSet('save output outputs');
const places = wordSet('dir directory folder path');
const ofModel = wordSet('model models train training');

function isPath(value: Located<string> | undefined): boolean {
  return value !== undefined && !isTemplated(value.at) && /^[./][\w./-]*$/.test(value.value);
}
