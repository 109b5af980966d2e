import {z} from 'zod'

/** The calls that a policy or a guardrail is for: those of models, or of tools of MCP servers. It never changes. */
export const CallTarget = z.enum(['llm', 'mcp_tools'])
export type CallTarget = z.output<typeof CallTarget>
