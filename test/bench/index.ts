import {mkdirSync, writeFileSync} from 'node:fs'
import {availableParallelism} from 'node:os'
import {join} from 'node:path'
import {besidePeer} from './beside.ts'
import {crashRounds} from './crash.ts'
import {identityFigures} from './identity.ts'
import {imageMemory} from './image.ts'
import {mcpCost} from './mcp.ts'
import {type Options, type Part, readOptions, USAGE} from './options.ts'
import {endOnSignals, run} from './processes.ts'
import {realtimeShare} from './realtime.ts'
import {machine, reportOf, writePage} from './report.ts'
import {routingCost} from './routing.ts'
import {compareSubjects, soakOurs} from './side-by-side.ts'
import {starts} from './starts.ts'
import {MissingFault} from './subjects/subject.ts'
import {checks, type Measured} from './targets.ts'
import {telemetryCost} from './telemetry.ts'
import {tokenCost} from './tokens.ts'
import {translationCost} from './translate.ts'

const FOLDER = join(import.meta.dirname, '../../.bench')
const SESSIONS = {sessions: 500, seconds: 20}
const JOURNAL_CALLS = '20000'
const FLUSH_CALLS = '20000'
const USAGE_ENTRIES = '10000000'

const options = understood()
if (options) await bench(options)

/** The options; undefined when there is nothing to run. */
function understood(): Options | undefined {
  try {
    const options = readOptions(process.argv.slice(2))
    if (!options) console.log(USAGE)
    return options
  } catch (fault) {
    console.error(`bench: ${fault instanceof Error ? fault.message : fault}\n\n${USAGE}`)
    process.exitCode = 2
    return undefined
  }
}

/** The best of five rounds of a call differs by a tenth from run to run, the best of fifteen by two hundredths. */
function mcpRounds({rounds, is_quick}: Options): number {
  return is_quick ? rounds : rounds * 3
}

/** Runs the parts asked for, one after the other, and says what came of them. */
async function bench(options: Options): Promise<void> {
  endOnSignals()
  mkdirSync(FOLDER, {recursive: true})
  const skipped: string[] = []
  const skip = (what: string, fault: unknown) => {
    if (!(fault instanceof MissingFault)) process.exitCode = 1
    const message = fault instanceof Error ? fault.message : fault
    skipped.push(`${what}: ${fault instanceof MissingFault ? message : `failed, ${message}`}`)
    tell(`left out: ${skipped.at(-1)}`)
  }
  const part = async <T>(name: Part, work: () => Promise<T>): Promise<T | undefined> => {
    if (!options.parts.has(name)) return undefined
    tell(name)
    try {
      return await work()
    } catch (fault) {
      skip(name, fault)
      return undefined
    }
  }
  const surroundings = {
    folder: FOLDER,
    processors: options.subject_processors,
    load_processors: options.load_processors,
  }
  const scenarios = await compareSubjects(options, surroundings, tell, skip).catch(fault => {
    skip('hot and sse', fault)
    return {comparisons: [], recorded: []}
  })
  const soaked = await part('soak', () => soakOurs(options, surroundings))
  const measured: Measured = {
    ...scenarios,
    soak: soaked?.soak,
    recorded: [...scenarios.recorded, ...(soaked ? [soaked.recorded] : [])],
    routing: await part('routing', () => routingCost(options, surroundings)),
    translation: await part('translate', () => translationCost(options, surroundings)),
    image: await part('image', () => imageMemory(options.is_binary, options.subject_processors)),
    realtime: await part('realtime', () =>
      realtimeShare({...SESSIONS, is_binary: options.is_binary, processors: options.subject_processors}),
    ),
    starts: await part('start', () => starts(options.is_binary, join(FOLDER, 'data'))),
    crash: await part('crash', () =>
      crashRounds({
        rounds: options.crash_rounds,
        is_binary: options.is_binary,
        progress: round => round % 10 === 0 && tell(`crash, ${round} rounds`),
      }),
    ),
    explain: await part('explain', () => script('explain.ts')),
    models: await part('models', () => script('models.ts')),
    limits: await part('limits', () => script('limits.ts')),
    pricing: await part('pricing', () => script('pricing.ts', ...(options.is_binary ? ['--binary'] : []))),
    apply: await part('apply', () => script('apply.ts')),
    analytics: await part('analytics', () => script('analytics.ts')),
    pii: await part('pii', () => script('pii.ts')),
    guardrails: await part('guardrails', () => script('guardrails.ts')),
    semantic_cache: await part('semantic-cache', () => script('semantic-cache.ts')),
    journal: await part('journal', () => script('journal.ts', JOURNAL_CALLS)),
    flush: await part('flush', () => script('flush.ts', FLUSH_CALLS)),
    usage: await part('usage', () => script('usage.ts', USAGE_ENTRIES)),
    client: await part('client', () => script('client.ts')),
    tokens: await part('identity', () => tokenCost(options, surroundings)),
    identity: await part('identity', () =>
      identityFigures({...options, folder: FOLDER, processors: options.subject_processors}, tell),
    ),
    mcp: await part('mcp', () => mcpCost({...options, rounds: mcpRounds(options)}, surroundings)),
    telemetry: await part('telemetry', () => telemetryCost(options, surroundings)),
    beside: await part('beside', () => {
      const {peer_files: peer} = options
      if (!peer) throw new MissingFault('the part beside needs --peer-binary and --peer-config')
      return besidePeer({...options, peer}, surroundings, availableParallelism())
    }),
  }
  const all = checks(measured)
  const report = reportOf(measured, all, skipped)
  console.log(report)
  if (options.json_file)
    writeFileSync(
      options.json_file,
      JSON.stringify({at: new Date(), machine: machine(), options, checks: all, ...measured}, null, 1),
    )
  if (options.writes_page) writePage(report)
  if (all.some(check => check.passes === false)) process.exitCode = 1
}

/** A benchmark that is a script of its own; gives what it prints. */
function script(file: string, ...words: readonly string[]): Promise<string> {
  return run([process.execPath, join(import.meta.dirname, file), ...words])
}

function tell(text: string) {
  console.error(`bench: ${text}`)
}
