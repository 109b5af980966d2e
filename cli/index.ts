import type {Command, CommanderError} from 'commander'
import {type Environment, processEnvironment} from './environment.ts'
import {type CommandFault, EXIT, faultOf, usageFault} from './fault.ts'
import {helpLine} from './help/line.ts'
import {formatHelp} from './help/order.ts'
import {printFault} from './print.ts'
import {buildProgram, TAKE_SETTINGS} from './program.ts'
import {placeIn} from './session.ts'

/**
 * Runs one command line (without the program's name) and gives its exit code: 0 ok, 1 failure, 2 wrong command line or
 * input, 3 not found, 4 refused. Answers go to stdout, remarks and faults to stderr.
 */
export async function main(argv: readonly string[], world: Environment = processEnvironment()): Promise<number> {
  const program = buildProgram(await settingsFlags(argv))
  placeIn(program, world, argv)
  prepare(program, world)
  try {
    await program.parseAsync([...helpLine(program, argv)], {from: 'user'})
    return EXIT.ok
  } catch (error) {
    if (error instanceof ExitFault) return error.exit
    const fault = faultOf(error)
    printFault(world, fault, argv.includes('--json'))
    return fault.exit
  }
}

/** The settings table is a tenth of a second of loading, which a command without settings does not pay. */
async function settingsFlags(argv: readonly string[]) {
  if (!argv.some(word => TAKE_SETTINGS.includes(word))) return []
  const {flagOptions} = await import('../src/settings/index.ts')
  return flagOptions()
}

/** Help or the version was printed: nothing is left to do. */
class ExitFault extends Error {
  readonly exit: number

  constructor(exit: number) {
    super()
    this.exit = exit
  }
}

/** Makes every command write into our world, and throw where it would end the process. */
function prepare(command: Command, world: Environment) {
  command
    .configureOutput({
      writeOut: text => world.stdout.write(text),
      writeErr: text => world.stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => world.stdout.columns ?? 120,
      getErrHelpWidth: () => world.stderr.columns ?? 120,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({showGlobalOptions: true, formatHelp})
    .exitOverride(error => {
      throw ended(error, command)
    })
  if (command.name() !== 'api') command.helpOption('-h, --help', 'Show help')
  if (command.parent) command.helpCommand(false)
  for (const each of command.commands) prepare(each, world)
}

function ended(error: CommanderError, command: Command): ExitFault | CommandFault {
  if (error.exitCode === 0) return new ExitFault(EXIT.ok)
  // A group without a command: its help went to stderr.
  if (error.code === 'commander.help') return new ExitFault(EXIT.usage)
  return usageFault(sentence(error), `See: ${pathOf(command)} --help`)
}

/**
 * Commander's complaint as a sentence, without the values that were typed: one of them may be a key in the wrong place.
 */
function sentence({code, message}: CommanderError): string {
  let text = message.replace(/^error: /, '')
  if (code === 'commander.unknownOption') text = text.replace(/(unknown option '--?[^'=]{1,80})[^']*'/, "$1'")
  if (code === 'commander.excessArguments') text = text.replace(/: [\s\S]*$/, '')
  const [first = '', ...rest] = text.split('\n').map(line => line.trim().replace(/^\((.*)\)$/, '$1'))
  return [`${first.charAt(0).toUpperCase()}${first.slice(1).replace(/\.$/, '')}.`, ...rest].join(' ')
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}
