/** The part of docs/guardrails.md on guardrails that are saved; tests run its examples in their order. */
export const SAVED = `## Saving one

A guardrail that is saved is named by configs, by calls and by the defaults of a workspace. \`actions\` are the keys beside the checks that a
hook has; what is left out is \`deny: false\`, \`async: false\`, and feedback of 5 and -5 with the weight 1.

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

Over HTTP these are \`/v1/guardrails\`, as of configs: \`POST\` and \`GET\` on it, \`GET\`, \`PUT\` and \`DELETE\` on \`/v1/guardrails/SLUG\`, and its
\`/versions\`.

- Checks are held against their parameters when they are saved; a check or a parameter that is not known is refused with the nearest, and so is a
  service at a private address that \`TRUSTED_CUSTOM_HOSTS\` does not name.
- \`PUT\` puts \`checks\` and \`actions\` in place whole; what is absent stays. Either is a new version, and the latest version runs. Its id is
  the \`guardrail_version_id\` of \`hook_results\`.
- \`headers\` of a service are secrets: they are sealed, shown masked, and stay when their mask comes back for the same address.
- One of a workspace is known there alone. One of the organisation (\`--shared\`, or \`organisation_id\` of an admin key) is read and run by
  every workspace, and changed by admin keys alone.
- A default of a workspace runs on each of its calls, whatever their config says, and one of the organisation on all
  (\`gateway guardrails defaults\`, \`PUT /v1/admin/organisation/defaults\`): a shared one, set by an admin key.
- One that a default or a saved config names cannot be deleted (409): their calls would be refused.
- With \`GUARDRAILS_ENABLED=OFF\` calls pass unguarded; guardrails can be saved and tried all the same.

## Trying one

\`gateway guardrails test\` runs a guardrail, saved or in a file (\`--file-guardrail\`), on a call that is not made. The file of the request has the
body of a chat call, or \`method\`, \`path\`, \`headers\` and \`body\`; \`--response\` names the body of an answer to judge too. No model is asked;
services that checks ask are, through the same wall as calls. It exits with 1 when the call would be denied.

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

## Evaluating one

\`gateway guardrails eval\` runs a guardrail on the calls of the log, as far as their bodies are kept, and counts: what a new rule would deny is
known before it does. Examples show the first hundred characters, as redactions left them, and no more. It needs the scopes
\`guardrails.read\` and \`logs.view\`. Streams are put together where the log has them in the words of OpenAI or Anthropic; others count as not
kept. Credentials in the log are masked, so \`default.jwt\` fails there.

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

Both are operations of the API too: \`POST /v1/guardrails/test\` and \`POST /v1/guardrails/evaluate\`, a page at a time.`
