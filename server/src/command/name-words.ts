/** The words of a name, split at every character except letters and digits, and at camel case. `Gemma3LLMTrain` has three words. */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** The same, but not split at camel case, for names such as `FSx`. */
export function unsplitWordsOf(name: string): readonly string[] {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
