import {anthropic} from './anthropic.ts'
import {anthropicAgents} from './anthropic-agents.ts'
import {bedrock} from './bedrock.ts'
import {cohere} from './cohere.ts'
import {engines} from './engines.ts'
import {google} from './google.ts'
import {openai} from './openai.ts'
import {openaiAgents} from './openai-agents.ts'
import type {VendorOperation} from './operation.ts'
import {others} from './others.ts'

/**
 * Every operation of a vendor's own API that is known. What is not here is an unknown operation: it passes, judged and
 * flagged.
 */
export const VENDOR_OPERATIONS: readonly VendorOperation[] = [
  ...google,
  ...bedrock,
  ...cohere,
  ...others,
  ...engines,
  ...openai,
  ...openaiAgents,
  ...anthropic,
  ...anthropicAgents,
]
