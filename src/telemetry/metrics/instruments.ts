import type {Generation} from '../semconv.ts'

/** A metric, and how its values are put together. */
export interface Instrument {
  readonly name: string
  readonly description: string
  readonly unit: string
  /** Of a histogram; without them it is a sum that only grows. */
  readonly bounds?: readonly number[]
}

/** 1 to 4^13, as the conventions want them for tokens. */
const TOKEN_BOUNDS = Array.from({length: 14}, (_, power) => 4 ** power)
/** 0.01 s doubled to 81.92 s, likewise for durations. */
const SECOND_BOUNDS = Array.from({length: 14}, (_, power) => 2 ** power / 100)

const duration = (name: string): Instrument => ({
  ...{name, description: 'Duration of an operation at a provider.', unit: 's', bounds: SECOND_BOUNDS},
})
const firstChunk = (name: string): Instrument => ({
  ...{name, description: 'Time to the first chunk of a streamed answer.', unit: 's', bounds: SECOND_BOUNDS},
})
const tokens = (name: string, description: string): Instrument => ({
  ...{name, description, unit: '{token}', bounds: TOKEN_BOUNDS},
})
const used = (of: string): Instrument => ({
  ...{name: `gen_ai.client.inference.usage.${of}`, description: 'Tokens that were used.', unit: '{token}'},
})

/** One name for each fact: those of the generation that is set, and no others. */
export interface Instruments {
  /** Of inference. */
  readonly inference_duration: Instrument
  /** Of operations that are none. */
  readonly duration: Instrument
  readonly first_chunk: Instrument
  /** A histogram of both, which an attribute tells apart. */
  readonly token_usage?: Instrument
  /** Histograms of each. */
  readonly operation_tokens?: {readonly input: Instrument; readonly output: Instrument}
  readonly usage?: {
    readonly input: Instrument
    readonly output: Instrument
    readonly cache_read: Instrument
    readonly cache_write: Instrument
    readonly reasoning: Instrument
  }
  readonly cost: Instrument
}

const COST: Instrument = {
  name: 'gateway.cost',
  description: 'Cost of calls, as the ledger has it, in billionths of a US dollar.',
  unit: '{nanousd}',
}
const DURATION = duration('gen_ai.client.operation.duration')

export const INSTRUMENTS: Readonly<Record<Generation, Instruments>> = {
  '1.40': {
    inference_duration: DURATION,
    duration: DURATION,
    first_chunk: firstChunk('gen_ai.client.operation.time_to_first_chunk'),
    token_usage: tokens('gen_ai.client.token.usage', 'Tokens of an operation.'),
    cost: COST,
  },
  latest: {
    inference_duration: duration('gen_ai.client.inference.duration'),
    duration: DURATION,
    first_chunk: firstChunk('gen_ai.client.inference.time_to_first_chunk'),
    operation_tokens: {
      input: tokens('gen_ai.client.inference.operation.input_tokens', 'Input tokens of an operation.'),
      output: tokens('gen_ai.client.inference.operation.output_tokens', 'Output tokens of an operation.'),
    },
    usage: {
      input: used('input_tokens'),
      output: used('output_tokens'),
      cache_read: used('cache_read.input_tokens'),
      cache_write: used('cache_write.input_tokens'),
      reasoning: used('reasoning.output_tokens'),
    },
    cost: COST,
  },
}
