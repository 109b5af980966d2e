/**
 * A model's id without what says where it is served: publishers, regions, variants. `us.anthropic.claude-sonnet-4-6`,
 * `anthropic/claude-sonnet-4-6:beta` and `claude-sonnet-4-6` are one; a fine-tune is its base.
 */
export function outputName(model: string): string {
  const name = model.trim().toLowerCase()
  const base = name.startsWith('ft:') ? name.split(':')[1]! : name
  return base
    .slice(base.lastIndexOf('/') + 1)
    .replace(/:.*$/, '')
    .replace(/^(?:[a-z]+\.)+(?=[a-z])/, '')
}

const DATED = /[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})(?:-v\d+)?$/

/** The names to look a model up by, the most exact first. */
export function outputNames(model: string): readonly string[] {
  const name = outputName(model)
  return DATED.test(name) ? [name, name.replace(DATED, '')] : [name]
}
