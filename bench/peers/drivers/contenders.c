/* The contenders of zoo_lock, the recipe for the C client in ZooKeeper's own sources. lines.ts has the commands. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zookeeper.h>

#include <zoo_lock.h>

#define MOST 4096
#define LINE 1024

typedef struct {
  int number;
  zhandle_t *session;
  int is_open;
  int is_held;
  int patience;
  zkr_lock_mutex_t *lock;
} contender_t;

static contender_t contenders[MOST];
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void say(const contender_t *contender, const char *word) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  pthread_mutex_lock(&output);
  printf("%s %d %lld\n", word, contender->number, now.tv_sec * 1000000000LL + now.tv_nsec);
  fflush(stdout);
  pthread_mutex_unlock(&output);
}

static void on_session(zhandle_t *session, int type, int state, const char *path, void *context) {
  contender_t *contender = context;
  (void)session;
  (void)path;
  if (type != ZOO_SESSION_EVENT || state != ZOO_CONNECTED_STATE || contender->is_open) return;
  contender->is_open = 1;
  say(contender, "opened");
}

/* Called with 0 when the lock is acquired, and with 1 when it is released. */
static void on_lock(int released, void *context) {
  contender_t *contender = context;
  contender->is_held = !released;
  if (!released) say(contender, "held");
}

static void *give_up(void *context) {
  contender_t *contender = context;
  usleep(contender->patience * 1000);
  if (contender->is_held) return NULL;
  zkr_lock_unlock(contender->lock);
  say(contender, "gaveup");
  return NULL;
}

static void join_queue(contender_t *contender, const char *path, int patience) {
  pthread_t thread;
  say(contender, "joining");
  if (contender->lock == NULL || strcmp(zkr_lock_getpath(contender->lock), path) != 0) {
    contender->lock = calloc(1, sizeof(zkr_lock_mutex_t));
    zkr_lock_init_cb(contender->lock, contender->session, strdup(path), &ZOO_OPEN_ACL_UNSAFE, on_lock, contender);
  }
  zkr_lock_lock(contender->lock);
  if (patience == 0) return;
  contender->patience = patience;
  pthread_create(&thread, NULL, give_up, contender);
  pthread_detach(thread);
}

int main(void) {
  char line[LINE], command[16], first[512], second[512];
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  while (fgets(line, sizeof line, stdin) != NULL) {
    int number, last = 0;
    contender_t *contender;
    if (sscanf(line, "%15s %d", command, &number) != 2 || number < 0 || number >= MOST) return 2;
    contender = &contenders[number];
    contender->number = number;
    if (strcmp(command, "open") == 0 && sscanf(line, "%*s %*d %511s %d", first, &last) == 2) {
      contender->session = zookeeper_init(first, on_session, last, NULL, contender, 0);
    } else if (strcmp(command, "join") == 0 && sscanf(line, "%*s %*d %511s %511s %d", first, second, &last) == 3) {
      join_queue(contender, second, last);
    } else if (strcmp(command, "leave") == 0) {
      say(contender, "leaving");
      zkr_lock_unlock(contender->lock);
      say(contender, "left");
    } else if (strcmp(command, "close") == 0) {
      zookeeper_close(contender->session);
      say(contender, "closed");
    }
  }
  return 0;
}
