import { modelByName } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { asText, type Cursor, entries, getIn, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { once } from './once.ts';

/**
 * The model that a chart's values name next to the image of its server or above it: `modelName: org/name`, `model: {id: org/name}`. Undefined if
 * they name none that is known, or several.
 */
export function modelInValues(block: Cursor): string | undefined {
  for (let at: Cursor | undefined = block; at !== undefined; at = at.parent) {
    if (at.node.kind !== 'map') continue;
    const [only, ...others] = modelsOf(at);
    if (only !== undefined) return others.length === 0 ? only : undefined;
  }
  return undefined;
}

/** By mapping: all components of a chart are below its root. */
const modelsOf = (at: Cursor): ReadonlySet<string> => modelsOfNode(at.node)(at);
const modelsOfNode = once((_: Cursor['node']) => {
  let known: ReadonlySet<string> | undefined;
  return (at: Cursor) => (known ??= new Set(entries(at).flatMap(modelsIn)));
});

function modelsIn(entry: Cursor): readonly string[] {
  const words = wordsOf(keyOf(entry));
  if (!words.includes('model') || !namesModel(words)) return [];
  const fields = entry.node.kind === 'map' ? entries(entry).filter((one) => namesModel(wordsOf(keyOf(one)))) : [entry];
  return fields.flatMap((field) => {
    const name = isTemplated(field) ? undefined : asText(field)?.replace(/^(?:hf|huggingface):\/\//, '');
    // A word alone may be the name of an object.
    return name !== undefined && /^[\w.-]+\/[\w.-]+$/.test(name) && modelByName(name) !== undefined ? [name] : [];
  });
}

/** Whether a key consists of words for a model and its name: `hfModelId`, `repository`. */
function namesModel(words: readonly string[]): boolean {
  return words.every((word) => nameWords.has(word));
}

const nameWords = wordSet('model llm base vllm hf hugging face huggingface name id repo repository path uri url ref');

/** The models that Ollama's chart downloads or loads: https://github.com/otwld/ollama-helm */
export function valuesPulls(values: Cursor): readonly { readonly name: string; readonly at: Cursor }[] {
  const models = getIn(values, 'ollama', 'models');
  // It makes these before it loads any.
  const own = new Set(items(getIn(models, 'create')).map((one) => asText(getIn(one, 'name'))));
  return ['pull', 'run']
    .flatMap((key) => items(getIn(models, key)))
    .flatMap((at) => {
      const name = isTemplated(at) ? undefined : asText(at);
      return name === undefined || own.has(name) ? [] : [{ name, at }];
    });
}
