/** What one session gets to see of another, asked of a gateway in all four ways that there are. */

/**
 * `{ allowed, word, messages }`; `word` is the reason on which history, status and send agree. What is allowed to send
 * begins a turn with `text`; without `text` nobody sends.
 */
export async function ask(gateway, requesterSessionKey, sessionKey, text) {
  const question = { requesterSessionKey, sessionKey };
  const { sessions } = await gateway.call("sessions_list", question);
  const answers = [
    await gateway.call("sessions_history", question),
    await gateway.call("session_status", question),
    ...(text ? [await gateway.call("sessions_send", { ...question, text, requestId: text })] : []),
  ];
  const allowed = sessions.some(({ key }) => key === sessionKey);
  const words = new Set(answers.map(({ because, reasonCode }) => because ?? reasonCode));
  if (words.size !== 1 || answers.some((answer) => answer.allowed !== allowed)) {
    throw new Error(`${requesterSessionKey} gets different answers: ${JSON.stringify({ allowed, answers })}`);
  }
  return { allowed, word: [...words][0], messages: answers.map(({ message }) => message) };
}
