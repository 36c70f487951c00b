// A peer with its own session that uses Curator's GroupMember and ServiceDiscovery. It reads one command per line from
// stdin and prints one line per command.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceProvider;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;

public class MembersPeer {
    /** The payload of an instance, as Spring Cloud's ZookeeperInstance is. */
    public static class Payload {
        public String text;
        public int weight;
    }

    private static CuratorFramework client;
    private static final Map<String, GroupMember> groups = new HashMap<>();
    private static final Map<String, ServiceDiscovery<Payload>> discoveries = new HashMap<>();
    private static final Map<String, ServiceInstance<Payload>> instances = new HashMap<>();
    private static final Map<String, ServiceProvider<Payload>> providers = new HashMap<>();

    public static void main(String[] args) throws Exception {
        client = CuratorFrameworkFactory.builder().connectString(args[0]).sessionTimeoutMs(Integer.parseInt(args[1]))
            .retryPolicy(new ExponentialBackoffRetry(50, 10)).build();
        client.start();
        client.blockUntilConnected();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = commands.readLine()) != null;) {
            String reply;
            try {
                String[] words = line.split(" ", 4);
                reply = execute(words[0], words.length > 1 ? words[1] : "", words.length > 2 ? words[2] : "", words.length > 3 ? words[3] : "");
            } catch (Throwable error) {
                reply = "!" + error.toString().replace('\n', ' ');
            }
            System.out.println(reply);
            System.out.flush();
        }
        client.close();
    }

    /** @param kind the id of a member, or the name of a service */
    private static String execute(String command, String kind, String path, String argument) throws Exception {
        switch (command) {
            case "session":
                return Long.toString(client.getZookeeperClient().getZooKeeper().getSessionId());
            case "join":
                GroupMember member = new GroupMember(client, path, kind, argument.getBytes(StandardCharsets.UTF_8));
                groups.put(path, member);
                member.start();
                return "joined";
            case "members":
                return new TreeMap<>(groups.get(path).getCurrentMembers()).entrySet().stream()
                    .map(each -> each.getKey() + "=" + new String(each.getValue(), StandardCharsets.UTF_8))
                    .collect(Collectors.joining(","));
            case "setData":
                groups.get(path).setThisData(argument.getBytes(StandardCharsets.UTF_8));
                return "set";
            case "leave":
                groups.remove(path).close();
                return "left";
            case "register":
                Payload payload = new Payload();
                payload.text = argument;
                payload.weight = 3;
                ServiceInstance<Payload> instance = ServiceInstance.<Payload>builder().name(kind).id("java").address("10.0.0.1")
                    .port(8080).payload(payload).uriSpec(new UriSpec("{scheme}://{address}:{port}")).build();
                instances.put(kind, instance);
                discovery(path).registerService(instance);
                return Long.toString(instance.getRegistrationTimeUTC());
            case "unregister":
                discovery(path).unregisterService(instances.remove(kind));
                return "unregistered";
            case "names":
                return discovery(path).queryForNames().stream().sorted().collect(Collectors.joining(","));
            case "instances":
                return discovery(path).queryForInstances(kind).stream().map(MembersPeer::describe).sorted().collect(Collectors.joining(","));
            case "choose":
                ServiceProvider<Payload> provider = providers.get(path + kind);
                if (provider == null) {
                    provider = discovery(path).serviceProviderBuilder().serviceName(kind).build();
                    provider.start();
                    providers.put(path + kind, provider);
                }
                ServiceInstance<Payload> chosen = provider.getInstance();
                return chosen == null ? "none" : describe(chosen);
            default:
                throw new IllegalArgumentException(command);
        }
    }

    private static String describe(ServiceInstance<Payload> instance) {
        Payload payload = instance.getPayload();
        return instance.getId() + " " + instance.buildUriSpec() + " " + instance.getServiceType() + " " + instance.getSslPort() + " "
            + instance.isEnabled() + " " + (payload == null ? "null" : payload.text + "*" + payload.weight);
    }

    private static ServiceDiscovery<Payload> discovery(String path) throws Exception {
        ServiceDiscovery<Payload> discovery = discoveries.get(path);
        if (discovery == null) {
            discovery = ServiceDiscoveryBuilder.builder(Payload.class).client(client).basePath(path)
                .serializer(new JsonInstanceSerializer<>(Payload.class)).build();
            discovery.start();
            discoveries.put(path, discovery);
        }
        return discovery;
    }
}
