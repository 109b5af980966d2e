import type {FinishReason} from '../chat.ts'

/** Mistral's finish reasons beyond OpenAI's. */
export const FINISH: Readonly<Record<string, FinishReason>> = {model_length: 'length', error: 'stop'}
