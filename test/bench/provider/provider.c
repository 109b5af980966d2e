/* The provider that the benchmarks put behind everything: it answers from memory and costs next to nothing.
 *
 *   provider PORT     on 127.0.0.1, HTTP/1.1 with keep-alive, one thread
 *
 * The JSON field "user" of a request says what to answer, since every gateway sends it on:
 *   "bench r4"        a chat completion of 4 KiB (1 when not said)
 *   "bench n50 d10"   a stream of 50 events, 10 ms from one to the next, then the usage and [DONE]
 * Each event of a stream says when it was sent, in nanoseconds of CLOCK_MONOTONIC between two @. A GET is answered with the
 * number of chats asked for so far.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CLIENTS = 4096, MOST_REQUEST = 4 << 20, MOST_REPLY_KIB = 64, ROOM_LEFT = 64 << 10 };

struct bytes {
  char *at;
  size_t length, room;
};

struct client {
  bool here, is_full;        /* is_full: the socket took no more, `out` holds the rest */
  struct bytes in, out;
  int events, events_sent;   /* of the stream under way; events is 0 when there is none */
  long long gap_ns, due_ns;
  int place;                 /* in `streaming` */
};

static struct client clients[MOST_CLIENTS];
static int streaming[MOST_CLIENTS], streams;
static struct bytes replies[MOST_REPLY_KIB + 1];
static unsigned long chats;
static int poll_fd;

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void make_room(struct bytes *bytes, size_t more) {
  if (bytes->room - bytes->length >= more) return;
  bytes->room = (bytes->length + more) * 2;
  bytes->at = realloc(bytes->at, bytes->room);
  if (!bytes->at) fail("memory");
}

static void append(struct bytes *bytes, const char *from, size_t length) {
  make_room(bytes, length);
  memcpy(bytes->at + bytes->length, from, length);
  bytes->length += length;
}

static void drop_front(struct bytes *bytes, size_t length) {
  bytes->length -= length;
  memmove(bytes->at, bytes->at + length, bytes->length);
}

static void end_stream(struct client *client) {
  if (client->events == 0) return;
  client->events = 0;
  int last = streaming[--streams];
  streaming[client->place] = last;
  clients[last].place = client->place;
}

static void leave(int fd) {
  struct client *client = &clients[fd];
  end_stream(client);
  close(fd);
  free(client->in.at);
  free(client->out.at);
  *client = (struct client){0};
}

static void watch(int fd, bool is_full) {
  clients[fd].is_full = is_full;
  struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | (is_full ? EPOLLOUT : 0), .data.fd = fd};
  epoll_ctl(poll_fd, EPOLL_CTL_MOD, fd, &event);
}

static void put(int fd, const char *from, size_t length) {
  struct client *client = &clients[fd];
  if (!client->is_full) {
    ssize_t sent = send(fd, from, length, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return leave(fd);
    if (sent > 0) from += sent, length -= sent;
    if (length == 0) return;
    watch(fd, true);
  }
  append(&client->out, from, length);
}

static void put_rest(int fd) {
  struct client *client = &clients[fd];
  ssize_t sent = send(fd, client->out.at, client->out.length, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN) return leave(fd);
  if (sent > 0) drop_front(&client->out, sent);
  if (client->out.length == 0) watch(fd, false);
}

/* A chat completion of about `kib` KiB with its head, made once. */
static const struct bytes *reply_of(int kib) {
  struct bytes *reply = &replies[kib];
  if (reply->length) return reply;
  static const char front[] =
    "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion\",\"created\":1750000000,\"model\":\"gpt-4o-mini\","
    "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"";
  static const char back[] =
    "\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":\"stop\"}],"
    "\"usage\":{\"prompt_tokens\":210,\"completion_tokens\":140,\"total_tokens\":350}}";
  static const char words[] = "The quick brown fox jumps over the lazy dog. ";
  size_t frame = sizeof front - 1 + sizeof back - 1, text = kib * 1024 - frame;
  char head[256];
  int head_length = snprintf(head, sizeof head,
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\ncontent-length: %zu\r\n\r\n", frame + text);
  append(reply, head, head_length);
  append(reply, front, sizeof front - 1);
  for (size_t at = 0; at < text; at += sizeof words - 1) append(reply, words, text - at < sizeof words - 1 ? text - at : sizeof words - 1);
  append(reply, back, sizeof back - 1);
  return reply;
}

static void send_event(int fd) {
  struct client *client = &clients[fd];
  static const char front[] =
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1750000000,\"model\":\"gpt-4o-mini\",\"choices\":[";
  char event[512], wire[640];
  int length;
  bool is_last = false;
  if (client->events_sent < client->events) {
    length = snprintf(event, sizeof event, "%s{\"index\":0,\"delta\":{\"content\":\"@%lld@\"},\"finish_reason\":null}]}\n\n", front, now_ns());
  } else if (client->events_sent == client->events) {
    length = snprintf(event, sizeof event,
      "%s{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":210,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n",
      front, client->events, client->events + 210);
  } else {
    length = snprintf(event, sizeof event, "data: [DONE]\n\n");
    is_last = true;
  }
  client->events_sent++;
  /* the usage and [DONE] follow the last event at once */
  client->due_ns = client->events_sent < client->events ? client->due_ns + client->gap_ns : 0;
  if (is_last) end_stream(client);
  put(fd, wire, snprintf(wire, sizeof wire, "%x\r\n%s\r\n%s", length, event, is_last ? "0\r\n\r\n" : ""));
}

static int asked(const char *user, const char *end, char letter, int otherwise) {
  for (const char *at = user; at + 1 < end && *at != '"'; at++)
    if (at[0] == ' ' && at[1] == letter) return atoi(at + 2);
  return otherwise;
}

static void answer(int fd, const char *body, size_t length) {
  static const char mark[] = "\"user\":\"bench";
  chats++;
  const char *user = memmem(body, length, mark, sizeof mark - 1), *end = body + length;
  user = user ? user + sizeof mark - 1 : end;
  int events = asked(user, end, 'n', 0);
  if (events <= 0) {
    int kib = asked(user, end, 'r', 1);
    const struct bytes *reply = reply_of(kib < 1 ? 1 : kib > MOST_REPLY_KIB ? MOST_REPLY_KIB : kib);
    return put(fd, reply->at, reply->length);
  }
  static const char head[] =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\nx-request-id: req_bench\r\n"
    "transfer-encoding: chunked\r\n\r\n";
  struct client *client = &clients[fd];
  client->events = events;
  client->events_sent = 0;
  client->gap_ns = asked(user, end, 'd', 0) * 1000000LL;
  client->due_ns = now_ns();
  client->place = streams;
  streaming[streams++] = fd;
  put(fd, head, sizeof head - 1);
}

static void count(int fd) {
  char body[64], wire[256];
  int length = snprintf(body, sizeof body, "{\"chats\":%lu}", chats);
  put(fd, wire, snprintf(wire, sizeof wire, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s", length, body));
}

/* Answers the requests that are whole. Bodies must say their length, as those of every subject do. */
static void answer_all(int fd) {
  struct client *client = &clients[fd];
  while (client->here && client->in.length && client->events == 0) {
    char *end = memmem(client->in.at, client->in.length, "\r\n\r\n", 4);
    if (!end) return;
    size_t head = end + 4 - client->in.at;
    *end = 0;
    const char *said = strcasestr(client->in.at, "\r\ncontent-length:");
    bool is_chunked = strcasestr(client->in.at, "\r\ntransfer-encoding:") != NULL;
    size_t body = said ? strtoul(said + sizeof "\r\ncontent-length:" - 1, NULL, 10) : 0;
    *end = '\r';
    if (is_chunked || body > MOST_REQUEST) return leave(fd);
    if (client->in.length < head + body) return;
    if (client->in.at[0] == 'G') count(fd);
    else answer(fd, client->in.at + head, body);
    if (client->here) drop_front(&client->in, head + body);
  }
}

static void hear(int fd) {
  struct client *client = &clients[fd];
  make_room(&client->in, ROOM_LEFT);
  /* a byte stays free: a length at the end of what came must not be read past it */
  ssize_t got = recv(fd, client->in.at + client->in.length, client->in.room - client->in.length - 1, 0);
  if (got == 0 || (got < 0 && errno != EAGAIN) || client->in.length > 2 * MOST_REQUEST) return leave(fd);
  if (got < 0) return;
  client->in.length += got;
  client->in.at[client->in.length] = 0;
  answer_all(fd);
}

static void welcome(int listener) {
  static const int on = 1;
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    if (fd >= MOST_CLIENTS) {
      close(fd);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    clients[fd].here = true;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = fd};
    epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event);
  }
}

/* Sends the events that are due; gives how many milliseconds there is nothing to send, -1 for ever. */
static int stream_on(void) {
  long long now = now_ns(), first = -1;
  for (int at = 0; at < streams;) {
    int fd = streaming[at];
    if (clients[fd].due_ns <= now) {
      send_event(fd);
      if (!clients[fd].here) continue; /* another stream stands here now */
      if (clients[fd].events == 0) {
        answer_all(fd); /* what was asked meanwhile */
        continue;
      }
    }
    if (first < 0 || clients[fd].due_ns < first) first = clients[fd].due_ns;
    at++;
  }
  if (first < 0) return -1;
  return first <= now ? 0 : (int)((first - now + 999999) / 1000000);
}

int main(int count_of, char **words) {
  if (count_of != 2) return fprintf(stderr, "usage: provider PORT\n"), 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  static const int on = 1;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) fail("listen");
  poll_fd = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event first = {.events = EPOLLIN, .data.fd = listener}, events[256];
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &first);
  for (;;) {
    int ready = epoll_wait(poll_fd, events, 256, stream_on());
    for (int at = 0; at < ready; at++) {
      int fd = events[at].data.fd;
      if (fd == listener) welcome(listener);
      else {
        if (clients[fd].here && (events[at].events & EPOLLOUT)) put_rest(fd);
        if (clients[fd].here && (events[at].events & ~EPOLLOUT)) hear(fd);
      }
    }
  }
}
