import type {Command} from 'commander'
import {nearest} from '../../src/base/nearest.ts'
import {usageFault} from '../fault.ts'

const HELP = 'help'

/**
 * The command line that shows the help which `argv` asks for: `help keys create` and `keys help create` are
 * `keys create --help`. Every other command line is as it was.
 */
export function helpLine(root: Command, argv: readonly string[]): readonly string[] {
  const words = wordsOf(root, argv)
  const path = groupsOf(root, words)
  if (words[path.length] !== HELP) return argv
  const named = [...path, ...words.slice(path.length + 1)]
  let command = root
  for (const [at, word] of named.entries()) {
    // an operation has help of its own, which the command knows
    if (command.name() === 'api') return [...named, '--help']
    const next = command.commands.find(each => each.name() === word || each.aliases().includes(word))
    if (!next) throw unknown(command, word, named.slice(0, at))
    command = next
  }
  return [...named, '--help']
}

/** The words that are neither options of all commands nor their values. */
function wordsOf(root: Command, argv: readonly string[]): readonly string[] {
  const valued = new Set(root.options.filter(({required}) => required).flatMap(({long, short}) => [long, short]))
  return argv.filter((word, at) => !word.startsWith('-') && (at === 0 || !valued.has(argv[at - 1])))
}

/** As many of the words as name groups of commands. */
function groupsOf(root: Command, words: readonly string[]): readonly string[] {
  let command = root
  for (const [at, word] of words.entries()) {
    const next = command.commands.find(each => each.name() === word && each.commands.length > 0)
    if (!next) return words.slice(0, at)
    command = next
  }
  return words
}

function unknown(command: Command, word: string, path: readonly string[]) {
  const near = nearest(
    word,
    command.commands.map(each => each.name()),
  )
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  return usageFault(`Unknown command '${word.slice(0, 80)}'.${hint}`, `See: ${['gateway', ...path].join(' ')} --help`)
}
