import type {Command} from 'commander'

/** A word that may come next, with what it is for. */
export interface Word {
  readonly word: string
  readonly meaning: string
}

/** A place on the command line: the commands typed so far, and what may follow. */
export interface CompletionPlace {
  /** `` or ` keys create`: each command with a space in front, by any of its names. */
  readonly path: string
  readonly commands: readonly Word[]
  readonly options: readonly (Word & {readonly short: string | undefined; readonly takes_value: boolean})[]
  /** Words for the arguments, where they are few. */
  readonly choices: readonly string[]
}

/** Every place of a command tree, the root first. Options of the root are taken everywhere. */
export function placesOf(root: Command): CompletionPlace[] {
  const everywhere = optionsOf(root)
  const walk = (command: Command, path: string): CompletionPlace[] => {
    const below = command.commands.filter(each => each.name() !== 'help')
    const own = command === root ? [] : optionsOf(command)
    const help = {word: '--help', short: '-h', meaning: 'Show help', takes_value: false}
    const place = {
      path,
      commands: below.map(each => ({word: each.name(), meaning: each.description()})),
      options: [...own, ...everywhere, help],
      choices: command.registeredArguments.flatMap(argument => argument.argChoices ?? []),
    }
    const named = below.flatMap(each => [each.name(), ...each.aliases()].map(word => ({each, word})))
    return [place, ...named.flatMap(({each, word}) => walk(each, `${path} ${word}`))]
  }
  return walk(root, '')
}

function optionsOf(command: Command) {
  return command.options
    .filter(option => !option.hidden && option.long)
    .map(option => ({
      word: option.long!,
      short: option.short,
      meaning: option.description,
      takes_value: option.required || option.optional,
    }))
}
