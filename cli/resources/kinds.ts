import type {Kind} from './kind.ts'
import {apiKey} from './kinds/api-keys.ts'
import {config} from './kinds/configs.ts'
import {defaults} from './kinds/defaults.ts'
import {guardrail} from './kinds/guardrails.ts'
import {integration} from './kinds/integrations.ts'
import {price} from './kinds/prices.ts'
import {provider, virtualKey} from './kinds/providers.ts'
import {workspace} from './kinds/workspaces.ts'

/** Every kind of resource that files hold, each after what it needs. */
export const KINDS: readonly Kind[] = [workspace, guardrail, integration, provider, virtualKey, config, defaults, apiKey, price]
