import {type Fact, type Facts, readFacts, type SaidField} from './facts.ts'

/** An operation that the reference names besides those it describes. */
export interface Besides {
  /** How the reference names it: `GET|POST /deployments`. */
  readonly named: string
  readonly fact: Fact
}

/** Their shapes: of the operation that they are another name of, or as the digest and the reference propose them. */
export function additional({operations}: Facts): readonly Besides[] {
  const of = (operation: string) => operations.find(each => each.operation === operation)!
  const workspaces = of('GET /admin/workspaces')
  const metadata = of('GET /mcp-integrations/{mcpIntegrationId}/metadata')
  const metrics = of('GET /logs/{logId}').reply.flatMap(({name, ...rest}) =>
    name.startsWith('metrics.') ? [{...rest, name: name.replace('metrics.', 'data[].')}] : [],
  )
  const said: Readonly<Record<string, readonly SaidField[]>> = {
    'GET /workspaces': workspaces.reply,
    'GET /mcp-servers/{id}/metadata': metadata.reply,
    'GET /logs': metrics,
    'GET /spans': metrics,
  }
  return readFacts(TEXT).operations.map(({operation, reply, ...fact}) => ({
    named: NAMES[operation] ?? operation,
    fact: {operation, ...fact, reply: [...reply, ...(said[operation] ?? [])]},
  }))
}

const NAMES: Readonly<Record<string, string>> = {
  'GET /deployments': 'GET|POST /deployments',
  'POST /deployments': 'GET|POST /deployments',
  'GET /deployments/{id}': 'GET|PUT|DELETE /deployments/{id or slug}',
  'PUT /deployments/{id}': 'GET|PUT|DELETE /deployments/{id or slug}',
  'DELETE /deployments/{id}': 'GET|PUT|DELETE /deployments/{id or slug}',
  'GET /saved-filters': 'GET|POST|PUT|DELETE /saved-filters[/{id}]',
  'POST /saved-filters': 'GET|POST|PUT|DELETE /saved-filters[/{id}]',
  'GET /saved-filters/{id}': 'GET|POST|PUT|DELETE /saved-filters[/{id}]',
  'PUT /saved-filters/{id}': 'GET|POST|PUT|DELETE /saved-filters[/{id}]',
  'DELETE /saved-filters/{id}': 'GET|POST|PUT|DELETE /saved-filters[/{id}]',
}

const COLUMNS =
  'data[].cost:number; data[].total_tokens:integer; data[].avg_tokens:number; data[].avg_input_tokens:number; data[].avg_output_tokens:number; data[].avg_latency:number; data[].p95_latency:number; data[].p99_latency:number; data[].success_rate:number; data[].error_count:integer; data[].cache_hit_rate:number; data[].last_seen:string(date-time); data[].first_seen:string(date-time)'
const LIST = 'object:string=list; total:integer; data:array<object>'
const GROUP = `${LIST}; data[].model:string; data[].requests:integer; ${COLUMNS}; data[].object:string=analytics-group`
const FILTERS =
  'time_of_generation_min!; time_of_generation_max!; workspace_slug; total_units_min; total_units_max; cost_min; cost_max; prompt_token_min; prompt_token_max; completion_token_min; completion_token_max; status_code; weighted_feedback_min; weighted_feedback_max; virtual_keys; configs; api_key_ids; metadata; ai_org_model; trace_id; span_id; prompt_slug; current_page; page_size'
const LISTED = FILTERS.replaceAll('!', '')
const DEPLOYMENT =
  'id:string(uuid); name:string; slug:string; type:string=production|non-production; config:object; allow_all_workspaces:boolean; allowed_workspaces:array<string>; status:string=active|inactive'
const SAVED_FILTER = 'id:string; name:string; filters:object; workspace_id:string'
const inList = (fields: string) =>
  `${LIST}; ${fields
    .split('; ')
    .map(field => `data[].${field}`)
    .join('; ')}`

const TEXT = `GET /workspaces
status 200
scopes workspaces.list
query status; name; exact_name; page_size; current_page

GET /analytics/groups/{groupBy}
status 200
scopes analytics.view
query columns; ${FILTERS}
reply ${GROUP}

GET /logs/groups/{groupBy}
status 200
scopes analytics.view; logs.list
query columns; ${FILTERS}
reply ${GROUP}

GET /mcp-servers/{id}/metadata
status 200
scopes mcp_servers.read
reply title:string|null; description:string|null; icons:array<any>|null

GET /logs
status 200
scopes logs.list
query ${LISTED}
reply ${LIST}

GET /traces
status 200
scopes logs.list
query ${LISTED}
reply ${LIST}; data[].trace_id:string; data[].requests:integer; data[].cost:number; data[].total_tokens:integer; data[].latency:number

GET /spans
status 200
scopes logs.list
query ${LISTED}
reply ${LIST}; summary.requests:integer; summary.cost:number; summary.total_tokens:integer; summary.avg_latency:number

GET /deployments
status 200
scopes deployments.list
query type; current_page; page_size
reply ${inList(DEPLOYMENT)}

POST /deployments
status 200
scopes deployments.create
body name!; slug; type!; config; allow_all_workspaces; allowed_workspaces
reply id:string(uuid); slug:string

GET /deployments/{id}
status 200
scopes deployments.read
reply ${DEPLOYMENT}

PUT /deployments/{id}
status 200
scopes deployments.update
body name; slug; type; config; allow_all_workspaces; allowed_workspaces

DELETE /deployments/{id}
status 200
scopes deployments.delete

GET /policies/rate-limits/{rateLimitsPolicyId}/entities
status 200
scopes policies.read
query status; search; page_size; current_page
reply ${LIST}; data[].id:string; data[].value_key:string; data[].current_usage:number

GET /saved-filters
status 200
reply ${inList(SAVED_FILTER)}

POST /saved-filters
status 200
body name!; filters!; workspace_id
reply id:string

GET /saved-filters/{id}
status 200
reply ${SAVED_FILTER}

PUT /saved-filters/{id}
status 200
body name; filters

DELETE /saved-filters/{id}
status 200
`
