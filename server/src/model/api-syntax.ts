// The syntax of names in Kubernetes' API.
// https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go

/** A form of names: its syntax, its length, and what it consists of, in words. */
export interface NameForm {
  readonly syntax: RegExp;
  readonly longest: number;
  readonly words: string;
}

const letters = 'lowercase letters, digits and "-"';

/** Most objects: RFC 1123 subdomain. */
export const subdomain: NameForm = {
  syntax: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/,
  longest: 253,
  words: 'lowercase letters, digits, "-" and "."',
};

/** Containers, volumes, namespaces: RFC 1123 label. */
export const dnsLabel: NameForm = { syntax: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/, longest: 63, words: letters };

/** Ports: RFC 6335 service name. */
export const portName: NameForm = {
  syntax: /^(?=[a-z0-9-]*[a-z])(?!.*--)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/,
  longest: 15,
  words: letters,
};

/** Keys of ConfigMaps and Secrets. */
export const dataKey: NameForm = {
  syntax: /^[-._a-zA-Z0-9]+$/,
  longest: 253,
  words: 'letters, digits, "-", "_" and "."',
};

/** What is wrong with a name, as the end of a sentence that starts with it; undefined if it is valid. */
export function nameProblem(name: string, form: NameForm): string | undefined {
  if (name.length > form.longest) return `has ${name.length} characters, but at most ${form.longest} are allowed`;
  if (form.syntax.test(name)) return undefined;
  const plain = form === dataKey ? /[A-Za-z0-9]/ : /[a-z0-9]/;
  const odd = [...name].find((letter) => !form.words.includes(`"${letter}"`) && !plain.test(letter));
  if (odd !== undefined) {
    return `contains ${describe(odd)}; use only ${form.words}`;
  }
  if (form === portName && /^[0-9-]+$/.test(name)) return 'contains no letter';
  if (form === portName && name.includes('--')) return 'contains "--"';
  return 'must start and end with a letter or a digit';
}

/** The same for the key of a label, an annotation, a taint or a resource: an optional domain, a slash, and a name. */
export function keyProblem(key: string): string | undefined {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  if (slash >= 0) {
    const domain = key.slice(0, slash);
    if (domain === '') return 'has no domain before "/"';
    if (name.includes('/')) return 'contains more than one "/"';
    const problem = nameProblem(domain, subdomain);
    if (problem !== undefined)
      return /[A-Z]/.test(domain) ? 'must have its domain in lowercase' : 'has an invalid domain';
  }
  return name === '' ? 'is empty' : wordProblem(name);
}

/** The same for the value of a label. */
export function labelValueProblem(value: string): string | undefined {
  return value === '' ? undefined : wordProblem(value);
}

function wordProblem(word: string): string | undefined {
  if (word.length > 63) return `has ${word.length} characters, but at most 63 are allowed`;
  if (/^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(word)) return undefined;
  const odd = [...word].find((letter) => !/[-A-Za-z0-9_.]/.test(letter));
  if (odd !== undefined) return `contains ${describe(odd)}; use only letters, digits and "-_."`;
  return 'must start and end with a letter or a digit';
}

function describe(letter: string): string {
  if (/\s/.test(letter)) return 'whitespace';
  if (/[A-Z]/.test(letter)) return 'uppercase letters';
  const code = letter.codePointAt(0) ?? 0;
  if (code < 0x80) return `"${letter}"`;
  // Some letters of other scripts look like those of ASCII.
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return /\p{L}/u.test(letter) ? `"${letter}" (${name})` : `the character ${name}`;
}

/** The closest valid name; undefined if nothing remains of the name. */
export function validName(name: string, form: NameForm): string | undefined {
  const kept = form === subdomain ? /[^a-z0-9.]+/g : /[^a-z0-9]+/g;
  const changed = name
    .toLowerCase()
    .replace(kept, '-')
    .slice(0, form.longest)
    .replace(/^[-.]+|[-.]+$/g, '');
  return form.syntax.test(changed) ? changed : undefined;
}
