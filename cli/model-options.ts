import type {Command} from 'commander'

export interface ModelOptions {
  readonly allowModels?: readonly string[] | false
  readonly denyModels?: readonly string[] | false
}

/** Adds the words that say which models may be called; `clears` adds those that take a list away. */
export function withModels(command: Command, {clears = false} = {}): Command {
  command
    .option('--allow-models <glob...>', 'models that may be called, such as gpt-4o* or @slug/*')
    .option('--deny-models <glob...>', 'models that may not be called; it wins over --allow-models')
  if (clears)
    command.option('--no-allow-models', 'all that are not denied may').option('--no-deny-models', 'none is denied')
  return command
}

/** The same as the operations take them; what was not given is absent. */
export function modelsOf({allowModels: allow, denyModels: deny}: ModelOptions) {
  if (allow === undefined && deny === undefined) return {}
  return {
    models: {
      ...(allow !== undefined && {allow: allow ? [...allow] : null}),
      ...(deny !== undefined && {deny: deny ? [...deny] : null}),
    },
  }
}
