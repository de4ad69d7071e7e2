import { wordSet } from '../catalog/word-patterns.ts';
import { placesAt, writtenText } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import { mayBeValues } from '../model/values.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, getIn, isTemplated, isUnseen, items, keySpanOf, rootCursor, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { type DocumentContext, defineRule } from './rule.ts';

/**
 * The address of a model has no scheme, has one that its engine cannot load, or is that of a web page.
 *
 * ## Why
 *
 * Operators download a model by the scheme of its address: `hf://` from Hugging Face, `s3://` from a bucket, `pvc://` from a volume. They do not
 * know what `organization/model` is: the download fails, and the server never starts. KServe takes `bucket/folder/model` for a folder of the image, and downloads nothing. In KubeAI, `ollama://` is for the engine OLlama only, and some addresses need a `cacheProfile`. The page of a model on huggingface.co is not the model.
 *
 * ```yaml invalid
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 * spec:
 *   predictor:
 *     model:
 *       modelFormat: {name: huggingface}
 *       storageUri: Qwen/Qwen2.5-7B-Instruct
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: serving.kserve.io/v1beta1
 * kind: InferenceService
 * metadata:
 *   name: chat
 * spec:
 *   predictor:
 *     model:
 *       modelFormat: {name: huggingface}
 *       storageUri: hf://Qwen/Qwen2.5-7B-Instruct
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the server, which did not start, downloads the model.
 *
 * ## When it is silent
 *
 * For paths, also relative ones such as `models/chat`, for other web addresses and schemes, which a ClusterStorageContainer may add, for templates and placeholders, and for the fields of other operators.
 *
 * ## Sources
 *
 * - [KServe: storage](https://kserve.github.io/website/docs/model-serving/storage/overview)
 * - [KubeAI: Model](https://github.com/kubeai-project/kubeai/blob/main/docs/reference/kubernetes-api.md)
 * - [llm-d: model artifacts](https://github.com/llm-d-incubation/llm-d-modelservice/tree/main/charts/llm-d-modelservice)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  document({ root }, context) {
    const at = root === null ? undefined : rootCursor(root);
    if (at === undefined || !mayBeValues(at)) return;
    if (getIn(at, 'decode') !== undefined || getIn(at, 'prefill') !== undefined)
      check(getIn(at, 'modelArtifacts', 'uri'), 'the chart', context);
    for (const model of placesAt(at, 'catalog.*'))
      if (getIn(model, 'resourceProfile') !== undefined) {
        check(getIn(model, 'url'), 'KubeAI', context);
        checkKubeAi(model, context);
      }
  },
  manifest({ apiVersion, kind, root }, context) {
    const paths = fields.get(`${groupOf(apiVersion)}/${kind}`);
    for (const at of (paths ?? []).flatMap((path) => placesAt(root, path)))
      check(at, kind === 'Model' ? 'KubeAI' : 'KServe', context);
    const spec = paths !== undefined && kind === 'Model' ? getIn(root, 'spec') : undefined;
    if (spec !== undefined) checkKubeAi(spec, context);
  },
});

/**
 * Reports an address that the engine of KubeAI cannot load, and fields that the API server rejects next to it.
 * https://github.com/kubeai-project/kubeai/blob/0c67b3ba903f/api/k8s/v1/model_types.go
 */
function checkKubeAi(spec: Cursor, { report }: DocumentContext): void {
  const [url, engine, adapters, cache] = ['url', 'engine', 'adapters', 'cacheProfile'].map((key) => getIn(spec, key));
  const [uri, name] = [url, engine].map((one) => (one && !isTemplated(one) ? writtenText(one)?.trim() : undefined));
  const [, scheme = ''] = /^([a-z0-9]+):\/\//.exec(uri ?? '') ?? [];
  if (url === undefined || uri === undefined || isUnseen(spec)) return;
  const hasRegistry = /^hf:\/\/[\w-]+\.[\w.-]+\//.test(uri);
  const problem = kubeAiProblem(scheme, name, cache !== undefined, hasRegistry);
  if (problem !== undefined) report({ message: `${shorten(uri, 48)} ${problem}`, span: spanOf(url) });
  // Later engines may have adapters.
  if (adapters !== undefined && /^(?:OLlama|FasterWhisper|Infinity)$/.test(name ?? '') && items(adapters).length > 0)
    report({
      message: `adapters need the engine VLLM, not ${name}: the API server rejects the Model`,
      span: keySpanOf(adapters),
    });
}

function kubeAiProblem(
  scheme: string,
  engine: string | undefined,
  isCached: boolean,
  hasRegistry: boolean,
): string | undefined {
  if (scheme === 'ollama' && engine !== undefined && engine !== 'OLlama')
    return `is only for the engine OLlama: ${shorten(engine, 20)} cannot load the model`;
  // A name with a registry is pulled from there.
  if (scheme === 'hf' && engine === 'OLlama' && !hasRegistry)
    return "is not in Ollama's library: the engine OLlama cannot download the model";
  if (isCached && (scheme === 'ollama' || scheme === 'pvc'))
    return 'cannot have a cacheProfile: the API server rejects the Model';
  return !isCached && (scheme === 'gs' || scheme === 'oss')
    ? 'needs a cacheProfile: the API server rejects the Model'
    : undefined;
}

/** The fields with the address of a model. */
const fields: ReadonlyMap<string, readonly string[]> = new Map([
  ['serving.kserve.io/InferenceService', ['spec.predictor.*.storageUri', 'spec.predictor.storageUris.*.uri']],
  ['serving.kserve.io/LLMInferenceService', ['spec.model.uri']],
  ['serving.kserve.io/LocalModelCache', ['spec.sourceModelUri']],
  ['kubeai.org/Model', ['spec.url']],
]);

/** The schemes that other programs have for the same, by the one that is meant. */
const otherSchemes: ReadonlyMap<string, string> = new Map([
  ...(['huggingface', 'hugging-face', 'hf-hub'] as const).map((name) => [name, 'hf'] as const),
  ...(['s3a', 's3n'] as const).map((name) => [name, 's3'] as const),
  ['gcs', 'gs'],
]);

/** The address with the scheme that is meant: `huggingface://`, `s3:/bucket` and `gs//bucket` are none. */
function withScheme(uri: string): string | undefined {
  const [, name = '', separator = '', rest = ''] = /^([a-z][a-z0-9-]*)(:\/*|\/\/)(\w[\w./:@-]*)$/.exec(uri) ?? [];
  const scheme =
    otherSchemes.get(name) ?? (separator === '://' ? undefined : writtenSchemes.has(name) ? name : undefined);
  return scheme === undefined ? undefined : `${scheme}://${rest}`;
}

const writtenSchemes = wordSet('hf s3 gs pvc');

function check(at: Cursor | undefined, reader: string, { document, report }: DocumentContext): void {
  const uri = writtenText(at)?.trim();
  if (at === undefined || uri === undefined || isTemplated(at) || isUnseen(at.parent) || uri.length > 500) return;
  const meant = withScheme(uri);
  if (meant !== undefined) {
    report({
      message: `${shorten(uri, 48)} has no known scheme: ${reader} cannot download it; did you mean ${shorten(meant, 48)}?`,
      span: spanOf(at),
      fixes: () => [fix(`Use ${shorten(meant, 50)}`, 'unsafe', replaceScalar(document, at, meant))],
    });
    return;
  }
  const [, page] =
    /^https?:\/\/(?:www\.)?(?:huggingface\.co|hf\.co)\/(?!datasets\/|spaces\/)([\w.-]+\/[\w.-]+?)(?:\/tree\/[\w.-]+)?\/?$/.exec(
      uri,
    ) ?? [];
  // Absolute and relative paths have no scheme.
  const isDeep = page === undefined && isInBucket(uri);
  const isPlain = /^[\w.-]+(?:\/[\w.-]+)?(?::[\w.-]+)?$/.test(uri) || isDeep;
  if (page === undefined && (/^[./~]|:\/\/|^[a-z]+:/i.test(uri) || !isPlain)) return;
  const name = page ?? (uri.includes('/') && !uri.includes(':') && !isDeep ? uri : undefined);
  const write =
    name === undefined
      ? `its address needs a scheme such as ${isDeep ? 's3://' : 'hf://'} or pvc://`
      : `write hf://${shorten(name, 50)}`;
  report({
    ...(isDeep && { severity: 'warning' }),
    message:
      page === undefined
        ? `${shorten(uri, 50)} has no scheme: ${reader} cannot download the model; ${write}`
        : `This address is a web page, not a model: ${reader} cannot load it; ${write}`,
    span: spanOf(at),
    fixes: () =>
      name === undefined
        ? []
        : [fix(`Use hf://${shorten(name, 50)}`, 'unsafe', replaceScalar(document, at, `hf://${name}`))],
  });
}

/** Whether an address is one of a bucket without its scheme: deeper than a repository, and not a folder of an image. */
function isInBucket(uri: string): boolean {
  const [first = '', ...folders] = uri.replace(/\/$/, '').split('/');
  const isPart = (one: string) => /^[\w.-]+$/.test(one);
  // The names of buckets have no capitals, and at least 3 characters.
  return folders.length > 1 && /^[a-z\d][a-z\d.-]{2,62}$/.test(first) && !ofImages.has(first) && folders.every(isPart);
}

/** Folders in images, which a server finds with a relative path. */
const ofImages = wordSet(
  'app apps bin build cache checkpoints data dist examples home lib llm llms mnt model model-repository models model_repository opt',
  'output outputs pretrained pvc resources root src storage test tests tmp usr var volume weights work workspace',
);
