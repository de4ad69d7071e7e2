import { gpusByLabel } from '../catalog/index.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { meantValues, productLabel } from './meant-labels.ts';
import { isMigProfile } from './mig-placement.ts';

// Device claims select devices by expressions in CEL. https://kubernetes.io/docs/reference/using-api/cel/

/** What a CEL expression must do for the API server to compile it: no operators of other languages, and brackets in pairs. Undefined if nothing is wrong. */
export function celProblem(text: string): string | undefined {
  // The API server rejects longer ones.
  if (text.length > 10_240 || /"""|'''|\/\//.test(text)) return undefined;
  // An attribute is in the map of its driver.
  const [, bare] = /\battributes\[["']([^"'\]]{1,60})["']\]\s*[=!]=/.exec(text) ?? [];
  if (bare !== undefined) return `name the driver before "${shorten(bare, 24)}", as in attributes["gpu.nvidia.com"]`;
  if (comparedCapacity.some((pattern) => pattern.test(text)))
    return 'compare a capacity with compareTo(quantity("40Gi"))';
  const code = text.replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '0');
  const wrong = [
    ['==', /(?:^|[^=!<>])=(?!=)/, '='],
    ['&&', /(?:^|[^&])&(?!&)/, '&'],
    ['||', /(?:^|[^|])\|(?!\|)/, '|'],
    ['&&', /[\w)\]]\s+and\s+[\w(!]/, 'and'],
    ['||', /[\w)\]]\s+or\s+[\w(!]/, 'or'],
  ] as const;
  const [right, , written] = wrong.find(([, pattern]) => pattern.test(code)) ?? [];
  if (right !== undefined) return `use "${right}", not "${written}"`;
  const [odd] = ['()', '[]', '{}'].filter(
    ([open = '', close = '']) => code.split(open).length !== code.split(close).length,
  );
  return odd === undefined ? undefined : `have as many "${odd.charAt(0)}" as "${odd.charAt(1)}"`;
}

const capacity = /\bcapacity\[["'][^"'\]]{1,60}["']\](?:\.\w{1,60}|\[["'][^"'\]]{1,60}["']\])/.source;

/** Quantities have methods instead of operators, except for equality. Nor can they be compared with numbers or texts. */
const comparedCapacity = [
  new RegExp(`${capacity}\\s*(?:[<>=!]=?\\s*["'\\d]|[<>]=?\\s*quantity\\()`),
  new RegExp(`\\bquantity\\(["'][^"']{1,20}["']\\)\\s*[<>]=?\\s*device\\.${capacity}`),
  new RegExp(`${capacity}\\.(?:compareTo|isGreaterThan|isLessThan)\\(\\s*["'\\d]`),
];

/** What an expression compares that no GPU of NVIDIA's driver has. `certain`: whatever the driver's version. */
export function celMismatch(text: string): { readonly problem: string; readonly certain: boolean } | undefined {
  if (text.length > 10_240) return undefined;
  if (/attributes\[["']gpu\.nvidia\.com["']\](?:\.memory\b|\[["']memory["']\])/.test(text))
    return { problem: 'memory is in device.capacity, not in device.attributes', certain: true };
  const [, domain = ''] = /\b(?:attributes|capacity)\[["'](nvidia\.com[^"'\]]{0,40})["']\]\s*[.[]/.exec(text) ?? [];
  if (domain !== '')
    return {
      problem: `The attributes of NVIDIA's GPUs are in gpu.nvidia.com, not in ${shorten(domain, 30)}`,
      certain: false,
    };
  const [, bare = ''] = /\battributes\[["']([^"'\].]{1,40})["']\]\s*[.[]/.exec(text) ?? [];
  if (bare !== '') return { problem: `${bare} is not the domain of a driver, such as gpu.nvidia.com`, certain: false };
  const product = equalProduct.exec(text)?.[1];
  if (product !== undefined && isShortName(product))
    return {
      problem: `productName is the driver's full name of a card, not "${shorten(product, 30)}"`,
      certain: false,
    };
  const profile = equalProfile.exec(text)?.[1];
  if (profile !== undefined && !isMigProfile(profile))
    return { problem: `No GPU has the MIG profile ${shorten(profile, 20)}`, certain: false };
  const name = attribute.exec(text)?.[1] ?? '';
  const meant = /\bhas\(|[?]|\bin\s+device/.test(text) ? undefined : otherNames[name];
  if (meant === undefined) return undefined;
  return { problem: `NVIDIA's driver has no attribute ${name}, only ${meant}`, certain: false };
}

const equalProduct = /attributes\[["']gpu\.nvidia\.com["']\]\.productName\s*==\s*["']([^"'\n]{2,60})["']/;
const equalProfile = /attributes\[["']gpu\.nvidia\.com["']\]\.profile\s*==\s*["'](\d[^"'\n]{2,20})["']/;
const attribute = /attributes\[["']gpu\.nvidia\.com["']\](?:\.|\[["'])(\w{1,40})/;

/** Names for what the driver calls otherwise. https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu */
const otherNames = table<string>({
  model: 'productName',
  modelName: 'productName',
  product: 'productName',
  name: 'productName',
  gpuModel: 'productName',
  computeCapability: 'cudaComputeCapability',
});

/** Whether a text names a card, but not as the driver does: node labels have its names with hyphens for blanks. */
function isShortName(product: string): boolean {
  const label = product.replaceAll(' ', '-');
  return gpusByLabel(productLabel, label).length === 0 && meantValues(productLabel, label).length > 0;
}
