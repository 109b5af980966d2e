import type {FinishReason} from '../chat.ts'

/** Mistral's finish reasons beyond OpenAI's (reference: finish reasons). */
export const FINISH: Readonly<Record<string, FinishReason>> = {model_length: 'length', error: 'stop'}
