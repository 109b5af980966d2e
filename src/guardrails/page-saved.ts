/** The part of docs/guardrails.md on guardrails that are saved; tests run its examples in their order. */
export const SAVED = `## Save a guardrail

Configs, calls and workspace defaults can use a saved guardrail. \`actions\` are the other keys of a hook. The defaults are
\`deny: false\`, \`async: false\`, and feedback of 5 and -5 with the weight 1.

\`\`\`yaml
checks:
  - id: default.contains
    parameters: {words: [internal use only], operator: none}
  - id: default.pii
    parameters: {redact: true}
actions: {deny: true}
\`\`\`

\`\`\`sh
gateway guardrails create house-words --file guardrail.yaml
gateway guardrails list
gateway guardrails update pg-house-1a2b3c --name "House words"
gateway guardrails versions pg-house-1a2b3c
gateway workspaces update default --input-guardrails pg-house-1a2b3c
gateway guardrails defaults --no-input-guardrails
\`\`\`

Over HTTP the paths are those of configs: \`POST\` and \`GET\` on \`/v1/guardrails\`, \`GET\`, \`PUT\` and \`DELETE\` on
\`/v1/guardrails/SLUG\`, and its \`/versions\`.

- Checks and their parameters are validated when they are saved. An unknown check or parameter is refused with the nearest
  known name. A service at a private address is refused unless \`TRUSTED_CUSTOM_HOSTS\` lists it.
- \`PUT\` replaces \`checks\` and \`actions\` as a whole; an absent one stays. Each change creates a version, and the latest
  version runs. Its id is the \`guardrail_version_id\` of \`hook_results\`.
- \`headers\` of a service are secrets: sealed and shown masked. If you send a mask back for the same address, the secret
  stays.
- A workspace guardrail is visible only in its workspace. An organisation guardrail (\`--shared\`, or \`organisation_id\` with
  an admin key) can be read and used by every workspace, and changed only with admin keys.
- A workspace default runs on each call of the workspace, with any config. An organisation default runs on all calls
  (\`gateway guardrails defaults\`, \`PUT /v1/admin/organisation/defaults\`). It names shared guardrails, and only an
  admin key can change it.
- A guardrail used by a default or a saved config cannot be deleted (409), because their calls would be refused.
- With \`GUARDRAILS_ENABLED=OFF\` calls run without guardrails. You can still save and test them.

## Test a guardrail

\`gateway guardrails test\` runs a guardrail on a request without sending the request. The guardrail is saved, or in a file
(\`--file-guardrail\`). The request file contains the body of a chat call, or \`method\`, \`path\`, \`headers\` and \`body\`.
\`--response\` names the body of a response to check as well. The command calls no model. It does call the services of
checks, with the same address checks as a call. It exits with 1 if the call would be denied.

\`\`\`json
{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Sum this up, for internal use only: ada@mail.example wrote."}]}
\`\`\`

\`\`\`sh
gateway guardrails test pg-house-1a2b3c --file request.json
\`\`\`

\`\`\`text
input: denied
  ✗ default.contains (0.3 ms) The text has "internal use only". "Sum this up, for internal use only: <EMAIL_1> wrote."
  ✓ default.pii (1.2 ms, changed the body) Found: email. It was redacted.
  body: {"model":"gpt-4o-mini","messages":[{"role":"user","content":"Sum this up, for internal use only: <EMAIL_1> wrote."}]}
\`\`\`

## Evaluate a guardrail over logged calls

\`gateway guardrails eval\` runs a guardrail on logged calls whose bodies are kept, and counts the results. Use it to see the
effect of a new rule before you attach it. Examples show only the first hundred characters, after redaction. It needs the
scopes \`guardrails.read\` and \`logs.view\`. Streams are assembled if they were logged in the OpenAI or Anthropic format;
other streams count as not kept. Credentials in the log are masked, so \`default.jwt\` fails there.

\`\`\`sh
gateway guardrails eval pg-house-1a2b3c --since 7d --side input
\`\`\`

\`\`\`text
SIDE   CHECK             PASSED  FAILED  ERRORED  SKIPPED  TRANSFORMED
input  default.contains       2       1        0        0            0
input  default.pii            3       0        0        0            1
input default.contains 0197f0a2-6d1e-4c3b-9f0e-2b1f6a1c0001 The text has "internal use only". "For internal use only, <EMAIL_1>."
1 of 3 judged calls would be denied (33.3 %); 1 would be changed.
\`\`\`

## See what a guardrail covers

\`gateway guardrails coverage\` lists the operations, and for each side the checks that judge it, the checks that are
skipped, and the reason. Without a name it shows one check that forbids and one that asks for more.

\`\`\`sh
gateway guardrails coverage pg-house-1a2b3c
\`\`\`

All three are also API operations: \`POST /v1/guardrails/test\`, \`POST /v1/guardrails/coverage\`, and
\`POST /v1/guardrails/evaluate\`, which evaluates one page of the log in each request.`
