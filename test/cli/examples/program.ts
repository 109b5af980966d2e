import type {Command} from 'commander'
import {buildProgram} from '../../../cli/program.ts'
import {flagOptions} from '../../../src/settings/index.ts'

/** Every command with its words, those that only hold others too. */
export function everyCommand(): readonly {readonly words: string; readonly command: Command}[] {
  const walk = (command: Command, path: readonly string[]): {words: string; command: Command}[] => [
    {words: path.join(' '), command},
    ...command.commands.flatMap(each => walk(each, [...path, each.name()])),
  ]
  return walk(buildProgram(flagOptions()), [])
}

/** The examples that a command's help shows, each without its prompt. */
export function examplesOf(command: Command): string[] {
  let text = ''
  command.configureOutput({
    writeOut(part) {
      text += part
    },
  })
  command.outputHelp()
  return [...text.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line]) => line!)
}
